#!/bin/sh
# The examples do not guess what an argument meant: refuses.sh FOLDER runs them with arguments that are no numbers, or no
# possible ones; each says which argument is wrong, computes nothing, and ends with status 2.
set -eu
programs=$1 bad=0

refuses() # what it has to say, program, arguments
{
    wanted=$1 program=$2
    shift 2
    status=0
    said=$("$programs/$program" "$@" 2>&1) || status=$?
    case $status:$said in
    2:*"$wanted"*usage*) ;;
    *)
        echo "$program $*: status $status: $said" >&2
        bad=1
        ;;
    esac
}

for wrong in 0 -1 x '' ' 5' 5x 1e3 99999999999999999999999; do
    refuses "options: \"$wrong\"" blackscholes "$wrong"
    refuses "points: \"$wrong\"" quickhull "$wrong"
    refuses "days: \"$wrong\"" nbody "$wrong"
    refuses "bodies: \"$wrong\"" nbody 10 "$wrong"
    refuses "words: \"$wrong\"" wordcount LICENSE "$wrong"
    refuses "width: \"$wrong\"" mandelbrot none.png "$wrong"
    refuses "height: \"$wrong\"" mandelbrot none.png 16 "$wrong"
done
for wrong in x '' nan inf 1e99 1,5 ' 2' 2px; do
    refuses "low: \"$wrong\"" canny data/coins.png none.png "$wrong" 80
    refuses "high: \"$wrong\"" canny data/coins.png none.png 40 "$wrong"
    refuses "amount: \"$wrong\"" unsharp data/coins.png none.png "$wrong"
done
refuses 'high: "20" is no number from 40' canny data/coins.png none.png 40 20
refuses "" blackscholes 1 2
refuses "" dot 1
refuses "" quickhull 1 2 3
refuses "" nbody 1 2 3
refuses "" mandelbrot none.png 1 2 3
refuses "" canny data/coins.png none.png 1
refuses "" canny
refuses "" unsharp
refuses "" lines
refuses "" wordcount
refuses "" wordcount LICENSE 1 2
refuses "" runlength
refuses "" rowstats a b c
refuses "" fluid none.png 1 2 3
refuses "" graph 1 2 3
# A file that is not there: status 1.
for program in lines wordcount runlength; do
    status=0
    said=$("$programs/$program" none.txt 2>&1) || status=$?
    case $status:$said in
    1:*"none.txt: cannot be read"*) ;;
    *)
        echo "$program none.txt: status $status: $said" >&2
        bad=1
        ;;
    esac
done
exit $bad
