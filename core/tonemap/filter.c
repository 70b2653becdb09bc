/* The filter tonemap_bt709, which maps HDR to SDR. Its options give the primaries, transfer and matrix of the
 * source and have the same names as zscale's. */
#include "tonemap/mapping.h"
#include "libavfilter/avfilter.h"
#include "libavfilter/colorspace.h"
#include "libavfilter/formats.h"
#include "libavfilter/internal.h"
#include "libavfilter/video.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include <string.h>

typedef struct {
    const AVClass *class;
    char *primaries, *transfer, *matrix;
    mapping mapping;
} context;

static av_cold int init(AVFilterContext *filter) {
    context *c = filter->priv;
    return set_mapping(&c->mapping, av_color_primaries_from_name(c->primaries),
                       av_color_transfer_from_name(c->transfer), av_color_space_from_name(c->matrix));
}

static int query_formats(AVFilterContext *filter) {
    static const enum AVPixelFormat in[] = {AV_PIX_FMT_YUV444P10, AV_PIX_FMT_NONE};
    static const enum AVPixelFormat out[] = {AV_PIX_FMT_YUV444P, AV_PIX_FMT_NONE};
    int error = ff_formats_ref(ff_make_format_list(in), &filter->inputs[0]->outcfg.formats);
    return error < 0 ? error : ff_formats_ref(ff_make_format_list(out), &filter->outputs[0]->incfg.formats);
}

static void map_frame(const mapping *m, AVFrame *out, const AVFrame *in) {
    for (int y = 0; y < in->height; y++) {
        const uint16_t *from[3];
        uint8_t *to[3];
        for (int i = 0; i < 3; i++) {
            from[i] = (const uint16_t *)(in->data[i] + y * in->linesize[i]);
            to[i] = out->data[i] + y * out->linesize[i];
        }
        map_row(m, to, from, in->width);
    }
}

/* Returns the peak that tonemap finds in a chain with zscale. There the light is already linear, so without
 * metadata PQ gets the default peak of HLG. */
static double peak_of(AVFrame *frame) {
    frame->color_trc = AVCOL_TRC_LINEAR;
    return ff_determine_signal_peak(frame);
}

static int filter_frame(AVFilterLink *link, AVFrame *in) {
    AVFilterLink *next = link->dst->outputs[0];
    mapping *m = &((context *)link->dst->priv)->mapping;
    AVFrame *out = ff_get_video_buffer(next, next->w, next->h);
    int error = out ? av_frame_copy_props(out, in) : AVERROR(ENOMEM);
    if (error >= 0) {
        set_peak(m, peak_of(in));
        map_frame(m, out, in);
        out->color_primaries = AVCOL_PRI_BT709;
        out->color_trc = AVCOL_TRC_BT709;
        out->colorspace = AVCOL_SPC_BT709;
        out->color_range = AVCOL_RANGE_MPEG;
        av_frame_remove_side_data(out, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
        av_frame_remove_side_data(out, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
        error = ff_filter_frame(next, out);
        out = NULL;
    }
    av_frame_free(&in);
    av_frame_free(&out);
    return error;
}

#define NAME(name, field, value)                                                                             \
    {name,                                                                                                   \
     NULL,                                                                                                   \
     offsetof(context, field),                                                                               \
     AV_OPT_TYPE_STRING,                                                                                     \
     {.str = value},                                                                                         \
     0,                                                                                                      \
     0,                                                                                                      \
     AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM}

static const AVOption options[] = {NAME("pin", primaries, "bt2020"), NAME("tin", transfer, "smpte2084"),
                                   NAME("min", matrix, "bt2020nc"), {NULL}};

static const AVClass class = {
    .class_name = "tonemap_bt709",
    .item_name = av_default_item_name,
    .option = options,
    .version = LIBAVUTIL_VERSION_INT,
    .category = AV_CLASS_CATEGORY_FILTER,
};

static const AVFilterPad inputs[] = {
    {.name = "default", .type = AVMEDIA_TYPE_VIDEO, .filter_frame = filter_frame},
};
static const AVFilterPad outputs[] = {{.name = "default", .type = AVMEDIA_TYPE_VIDEO}};

static const AVFilter tonemap = {
    .name = "tonemap_bt709",
    .priv_size = sizeof(context),
    .priv_class = &class,
    .init = init,
    FILTER_INPUTS(inputs),
    FILTER_OUTPUTS(outputs),
    FILTER_QUERY_FUNC(query_formats),
};

const AVFilter *__real_avfilter_get_by_name(const char *name);

/* Adds the filter to ffmpeg's own. */
const AVFilter *__wrap_avfilter_get_by_name(const char *name) {
    return name && !strcmp(name, tonemap.name) ? &tonemap : __real_avfilter_get_by_name(name);
}
