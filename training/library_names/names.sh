# Prints the names of the functions of the C library: sh names.sh
for library in libc libm; do
  nm -D --defined-only "$(ldconfig -p | awk -v name="$library.so.6" '$1 == name {print $NF; exit}')"
done | awk '$2 ~ /[TWi]/ {sub(/@.*/, "", $3); print $3}' | grep -E '^[a-z][a-z0-9_]*$' | sort -u
