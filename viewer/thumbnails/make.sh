#!/usr/bin/env bash
# Makes the thumbnails of all shipped scenes with `rotule film`: make.sh PATH_OF_ROTULE [SCENE]...
set -euo pipefail
program=$1
shift
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The moment that shows what the scene is about, in seconds; 0.3 for the others.
declare -A moment=([ball]=0.2 [balloon]=0.5 [bouncing_ball]=0.1 [brick_wall]=0 [bricard]=0.4 [chain_fall]=0.5 [chain_on_floor]=0.5 [cloth]=0.7
  [domino_run]=0.5 [double_pendulum]=0.5 [dzhanibekov]=1 [heavy_on_light]=0 [incline]=0 [kepler]=1 [lead_bar]=0.5 [mannequin]=1 [mannequin_bounce]=0.5 [marble_box]=0.2 [masonry_arch]=0
  [newton_cradle]=0 [parachute]=3.5 [planets]=1 [pyramid_40]=0 [ragdoll_heap]=0.35 [rock_pile]=0.3 [rope]=0.5 [slide_to_roll]=0.1 [sliding_block]=0.1
  [torn_sheet]=0.25 [thread_in_wake]=50 [tower_50]=0 [trapeze]=0.8 [tripods]=0.7 [vortex_street]=30)

# Where something small lies on something large: from where, to where.
declare -A camera=([scarf]=0.55,-0.65,0.5,0,0,0 [soft_block]=0.9,-1.1,0.7,0,0,0.15)

if [ $# -gt 0 ]; then names=("$@"); else
  mapfile -t names < <(for file in "$folder"/../../scenes/*.json; do basename "$file" .json; done | grep -vx schema)
fi
for name in "${names[@]}"; do
  "$program" film "$name" --out "$work/large.png" --size 720x450 --at "${moment[$name]:-0.3}" ${camera[$name]:+--camera "${camera[$name]}"} --quiet
  ffmpeg -v error -y -i "$work/large.png" -vf scale=240:150:flags=area -quality 82 "$folder/$name.webp"
  echo "$name: $(stat -c %s "$folder/$name.webp") bytes"
done
