#!/bin/sh
# Fails if a page of documentation links to a file that is not there, names a function or variable that does not exist, or if
# docs/language.md lacks an operation of include/sinter/sinter.h.
#
#   tools/check-docs.sh
set -eu
cd "$(dirname -- "$0")/.."
bad=0

say()
{
    echo "$*" >&2
    bad=1
}

for page in *.md docs/*.md bench/README.md data/README.md; do
    folder=$(dirname -- "$page")
    prose=$(sed '/^```/,/^```/d; /^<!-- [a-z]*$/,/^-->$/d; s/`[^`]*`//g' "$page")
    links=$(printf '%s\n' "$prose" | grep -o '](\([^)]*\))' | sed 's/^](\([^)#]*\).*/\1/'
            printf '%s\n' "$prose" | grep -o '\(src\|href\)="[^"]*"' | sed 's/.*="\(.*\)"/\1/')
    for link in $links; do
        case $link in
        http*:* | mailto:*) ;;
        *) [ -e "$folder/$link" ] || say "$page: there is no $link" ;;
        esac
    done
    # *_at and sn_f32-like words come from the headers, SINTER_... from the build and the environment
    for word in $(grep -o '\b\(sn\|SN\|SINTER\)_[A-Za-z0-9_]*[A-Za-z0-9]' "$page" | sort -u); do
        grep -rqw -- "$word" include src tests/CMakeLists.txt CMakeLists.txt tests/support tests/ir cmake ||
            say "$page: there is no $word"
    done
done

# the macros over functions named *_at are the operations
for word in $(sed -n 's/^SN_API sn_\(acc\|scalar\) \(sn_[a-z0-9_]*\)_at(.*/\2/p' include/sinter/sinter.h | sort -u); do
    case $word in
    sn_neighbour) word=sn_at ;;
    sn_component) word=sn_get ;;
    sn_array_field) word=sn_field ;;
    esac
    grep -qw -- "$word" docs/language.md || say "docs/language.md: $word is missing"
done
exit $bad
