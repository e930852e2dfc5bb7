/** What the panel and the extension say to each other. The panel's word is looked at before it is believed. */

import type { Listing } from "./results";

export type FromPanel =
  | { type: "ready" }
  | { type: "search"; question: string; kind: string; language: string }
  | { type: "open"; listing: number; row: number; beside: boolean };

export type ToPanel =
  | { type: "busy"; question: string }
  | { type: "listing"; listing: Listing; number: number }
  | { type: "failed"; message: string }
  | { type: "languages"; languages: readonly string[] }
  | { type: "ask"; question: string; run: boolean };

const MOST = 4_000;

export function fromPanel(said: unknown): FromPanel | undefined {
  if (typeof said !== "object" || said === null) return undefined;
  const message = said as Record<string, unknown>;
  switch (message["type"]) {
    case "ready":
      return { type: "ready" };
    case "search": {
      const { question, kind, language } = message;
      if (typeof question !== "string" || typeof kind !== "string" || typeof language !== "string") return undefined;
      return question.trim() ? { type: "search", question: question.trim().slice(0, MOST), kind, language } : undefined;
    }
    case "open": {
      const { listing, row, beside } = message;
      if (!Number.isInteger(listing) || !Number.isInteger(row)) return undefined;
      return { type: "open", listing: listing as number, row: row as number, beside: beside === true };
    }
    default:
      return undefined;
  }
}
