#!/bin/sh
# Compiles the core inside the toolchain's root, where /build/src has the sources and /build/core is this folder.
# Leaves the files that BUILT (cache.ts) names in /build. FFMPEG_PARTS and FFMPEG_VP9_PARTS are options for ffmpeg's configure.
set -eu
cd /build
jobs=$(nproc)
prefix=/build/libraries
emulated="-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN"
cflags="-O3 -msimd128 $emulated"
memory="-Wl,-z,stack-size=5242880 -Wl,--import-memory -Wl,--initial-memory=33554432 -Wl,--max-memory=4294967296"
export AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19 STRIP=true

# The compiler for all configure scripts. x264's appends -fno-tree-vectorize to the flags, so the vectorization flags come last.
cat >/usr/local/bin/wasm-cc <<'CC'
#!/bin/sh
exec clang-19 --target=wasm32-wasi -Wno-everything "$@" -fvectorize -fslp-vectorize
CC
chmod +x /usr/local/bin/wasm-cc
export CC=wasm-cc

wasm-cc $cflags -c core/shim.c -o shim.o

# For each function NAME that our kernels wrap, the linker redirects calls of NAME to __wrap_NAME.
wraps=$(sed -n 's/^[a-z].*__wrap_\([a-z0-9_]*\)(.*/ -Wl,--wrap=\1/p' core/*/*.c | sort -u | tr -d '\n')

# compile_kernels FOLDER FLAGS… compiles the kernels and checks of a folder. Call it in the folder where the library is built.
compile_kernels() {
    folder=$1
    shift
    mkdir -p /build/kernels /build/checks
    for file in /build/core/"$folder"/*.c /build/core/"$folder"/check/*.c; do
        case $file in */check/*) objects=checks ;; *) objects=kernels ;; esac
        wasm-cc $cflags "$@" -I/build/core -c "$file" -o "/build/$objects/$folder-$(basename "$file" .c).o"
    done
}

# No configure script supports wasm, so each gets a 32-bit host without assembly; x264 gets one without madvise.
cd /build/src/x264
./configure --host=i686-gnu --prefix=$prefix --bit-depth=8 --enable-static --disable-cli --disable-asm \
    --disable-thread --disable-opencl --extra-cflags="$cflags -ffast-math" \
    --extra-ldflags="/build/shim.o -lwasi-emulated-signal -lwasi-emulated-process-clocks"
make -j"$jobs" lib-static
compile_kernels x264 -std=gnu99 -ffast-math -DHIGH_BIT_DEPTH=0 -DBIT_DEPTH=8 -I.
$AR rs libx264.a /build/kernels/x264-*.o
make install-lib-static

cd /build/src/lame
./configure --host=arm-linux --prefix=$prefix --disable-shared --disable-frontend --disable-decoder \
    CFLAGS="$cflags -ffast-math -DUSE_FAST_LOG"
make -j"$jobs" install
compile_kernels lame -std=gnu99 -DHAVE_CONFIG_H -DUSE_FAST_LOG -Iinclude -I. -Ilibmp3lame
$AR rs $prefix/lib/libmp3lame.a /build/kernels/lame-*.o

cd /build/src/opus
./configure --host=arm-linux --prefix=$prefix --disable-shared --disable-doc --disable-extra-programs \
    --disable-asm --disable-intrinsics --disable-rtcd CFLAGS="$cflags"
make -j"$jobs" install

cd /build/src/zlib
mkdir objects
for name in adler32 crc32 deflate inffast inflate inftrees trees uncompr zutil; do
    wasm-cc $cflags -c $name.c -o objects/$name.o
done
$AR rs $prefix/lib/libz.a objects/*.o
cp zlib.h zconf.h $prefix/include

# SIMDe lets libvpx's code for 64-bit ARM compile. libvpx's configure adds -march, which clang rejects for wasm.
cat >/usr/local/bin/vpx-cc <<'CC'
#!/bin/sh
for word; do
    shift
    case $word in -march=*) ;; *) set -- "$@" "$word" ;; esac
done
exec wasm-cc "$@"
CC
chmod +x /usr/local/bin/vpx-cc
# compile_libvpx FOLDER FLAGS… configures and compiles libvpx in a new folder.
compile_libvpx() {
    mkdir "/build/$1"
    cd "/build/$1"
    shift
    CC=vpx-cc LD=vpx-cc AS=vpx-cc CXX=false ../src/libvpx/configure "$@" --disable-runtime-cpu-detect \
        --disable-multithread --disable-pic --disable-vp8 --disable-vp9-decoder --disable-examples --disable-tools \
        --disable-docs --disable-unit-tests --disable-webm-io --disable-libyuv \
        --extra-cflags="-I/build/core/vpx $cflags"
    make -j"$jobs" libvpx.a
}

compile_libvpx vpx-scalar --target=generic-gnu
compile_libvpx vpx --target=armv8-linux-gcc --disable-neon_dotprod --disable-neon_i8mm --disable-sve --disable-sve2
compile_kernels vpx -std=gnu99 -I/build/core/vpx -I. -I../src/libvpx
$AR rs libvpx.a /build/kernels/vpx-*.o
cp libvpx.a $prefix/lib
cp -r ../src/libvpx/vpx $prefix/include

# drop_depths CASES FILE… removes the cases of 9, 12 and 14 bits from each file, which must have exactly CASES of them.
# Hardly any source has these depths, and their code was 6 % of the gzipped core. FAST_TOOLS already rejects them, and so
# do the decoders.
drop_depths() {
    cases=$1
    shift
    for file; do
        [ "$(grep -c '^ *case \(9\|12\|14\):$' "$file")" = "$cases" ]
        sed -i '/^ *case \(9\|12\|14\):$/,/break;/d' "$file"
    done
}

cd /build/src/ffmpeg/libavcodec
drop_depths 3 h264dsp.c h264pred.c h264qpel.c
drop_depths 2 hevcdsp.c hevcpred.c hevc_ps.c
depths='sps->bit_depth_luma == 11 || sps->bit_depth_luma == 13'
grep -q "$depths" h264_slice.c
sed -i "s/$depths/(sps->bit_depth_luma != 8 \&\& sps->bit_depth_luma != 10)/" h264_slice.c

# configure_ffmpeg FOLDER FLAGS… configures ffmpeg in a folder of its own and changes to that folder.
configure_ffmpeg() {
    mkdir -p "/build/$1"
    cd "/build/$1"
    shift
    PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig ../src/ffmpeg/configure --enable-cross-compile --target-os=none \
        --arch=wasm32 --cc=wasm-cc --ld=wasm-cc --host-cc=gcc --ar=$AR --ranlib=$RANLIB --nm=$NM --disable-stripping \
        --pkg-config=pkgconf --pkg-config-flags=--static \
        --disable-everything --disable-autodetect --disable-iconv --disable-ffplay --disable-ffprobe --disable-doc \
        --disable-network --disable-pthreads --disable-avdevice --disable-asm --disable-debug --disable-runtime-cpudetect \
        --enable-gpl --enable-zlib --enable-libopus "$@" \
        --extra-cflags="-include /build/core/shim.h -I$prefix/include $cflags" \
        --extra-ldflags="/build/shim.o -L$prefix/lib -lwasi-emulated-signal -lwasi-emulated-process-clocks \
-lwasi-emulated-getpid -lwasi-emulated-mman $memory$wraps"
    # configure does not detect which operations are fast on wasm.
    sed -i 's/\(HAVE_FAST_\(CLZ\|64BIT\|UNALIGNED\)\) 0/\1 1/' config.h libavutil/avconfig.h
    echo 'LDEXEFLAGS += /build/kernels/ffmpeg.a' >>ffbuild/config.mak
    # Code that runs once per packet is optimized for size instead of speed.
    echo 'libavformat/%.o fftools/%.o: CFLAGS += -Os' >>ffbuild/config.mak
}

configure_ffmpeg ffmpeg --enable-libx264 --enable-libmp3lame $FFMPEG_PARTS
for folder in aac h264 hevc swresample swscale tonemap yadif; do
    compile_kernels $folder -std=c11 -DHAVE_AV_CONFIG_H -include /build/core/shim.h -I. -I../src/ffmpeg
    $AR rs /build/kernels/ffmpeg.a /build/kernels/$folder-*.o
done
make -j"$jobs" ffmpeg_g
# Links the program that compares every kernel with the scalar function of the same libraries.
wasm-cc $cflags -I/build/core /build/core/check/check.c /build/checks/*.o /build/kernels/ffmpeg.a \
    lib*/lib*.a $prefix/lib/*.a /build/shim.o $memory $wraps \
    -lwasi-emulated-signal -lwasi-emulated-process-clocks -lwasi-emulated-getpid -lwasi-emulated-mman \
    -o /build/framewright-check.wasm
llvm-strip-19 --strip-all -o /build/framewright-core.wasm ffmpeg_g
# link_scalar FILE links the core without our kernels, as a reference to compare streams with.
link_scalar() {
    rm ffmpeg_g
    sed -i 's/-Wl,--wrap=[a-z0-9_]*//g' ffbuild/config.mak
    make ffmpeg_g
    llvm-strip-19 --strip-all -o "/build/$1" ffmpeg_g
}

link_scalar framewright-core-scalar.wasm

configure_ffmpeg ffmpeg-vp9 --enable-libvpx $FFMPEG_VP9_PARTS
make -j"$jobs" ffmpeg_g
llvm-strip-19 --strip-all -o /build/framewright-core-vp9.wasm ffmpeg_g
cp /build/vpx-scalar/libvpx.a $prefix/lib
link_scalar framewright-core-vp9-scalar.wasm
cp /build/src/ffmpeg/COPYING.GPLv2 /build/COPYING
