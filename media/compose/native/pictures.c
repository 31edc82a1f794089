#include "pictures.h"
#include <libyuv/planar_functions.h>
#include <libyuv/scale.h>
#include <stdlib.h>
#include <string.h>

static bool fits(int32_t width, int32_t height) {
  return width > 0 && height > 0 && width <= MOST_SIDE && height <= MOST_SIDE && width * height <= MOST_AREA;
}

result decoder_open(decoder *d) {
  memset(d, 0, sizeof *d);
  const vpx_codec_dec_cfg_t config = {.threads = 1};
  return vpx_codec_dec_init(&d->codec, vpx_codec_vp8_dx(), &config, 0) == VPX_CODEC_OK ? PICTURE : FAILED;
}

void decoder_close(decoder *d) {
  d->image = NULL;
  vpx_codec_destroy(&d->codec);
}

/* Checks the size in the header (RFC 6386 section 9.1) before libvpx allocates memory for it. */
static result check_header(decoder *d, const uint8_t *frame, size_t length) {
  if (length < 3 || length > MOST_FRAME) return CORRUPT;
  if (frame[0] & 1) return d->has_key ? PICTURE : NO_KEY_FRAME;
  if (length < 10 || frame[3] != 0x9d || frame[4] != 0x01 || frame[5] != 0x2a) return CORRUPT;
  int32_t width = (frame[6] | frame[7] << 8) & 0x3fff, height = (frame[8] | frame[9] << 8) & 0x3fff;
  return width == 0 || height == 0 ? CORRUPT : fits(width, height) ? PICTURE : TOO_LARGE;
}

/* Starts anew after damage: the old state depends on the damaged frame. */
static result reset(decoder *d, result why) {
  decoder_close(d);
  result opened = decoder_open(d);
  return opened == PICTURE ? why : opened;
}

result decoder_decode(decoder *d, const uint8_t *frame, size_t length) {
  result checked = check_header(d, frame, length);
  if (checked != PICTURE) return checked;
  d->image = NULL;
  if (vpx_codec_decode(&d->codec, frame, (unsigned)length, NULL, 0) != VPX_CODEC_OK) return reset(d, CORRUPT);
  d->has_key = true;
  vpx_codec_iter_t at = NULL;
  const vpx_image_t *image = vpx_codec_get_frame(&d->codec, &at);
  if (!image) return NOTHING;
  if (image->fmt != VPX_IMG_FMT_I420) return reset(d, CORRUPT);
  if (!fits((int32_t)image->d_w, (int32_t)image->d_h)) return reset(d, TOO_LARGE);
  d->image = image;
  return PICTURE;
}

static size_t area(const canvas *c) { return (size_t)c->width * (size_t)c->height; }
static uint8_t *plane_u(const canvas *c) { return c->bytes + area(c); }
static uint8_t *plane_v(const canvas *c) { return c->bytes + area(c) + area(c) / 4; }

static bool is_canvas(const canvas *c) {
  return c->width >= LEAST_SIDE && c->height >= LEAST_SIDE && fits(c->width, c->height) && c->width % 2 == 0 &&
         c->height % 2 == 0 && c->length == area(c) * 3 / 2;
}

static bool is_inside(const canvas *c, rectangle at) {
  bool is_even = ((at.x | at.y | at.width | at.height) & 1) == 0;
  /* No difference can overflow: each value is checked against the canvas first. */
  return is_canvas(c) && is_even && at.x >= 0 && at.y >= 0 && at.width > 0 && at.height > 0 && at.x <= c->width &&
         at.y <= c->height && at.width <= c->width - at.x && at.height <= c->height - at.y;
}

static size_t luma_at(const canvas *c, rectangle at) { return (size_t)at.y * (size_t)c->width + (size_t)at.x; }
static size_t chroma_at(const canvas *c, rectangle at) {
  return (size_t)(at.y / 2) * (size_t)(c->width / 2) + (size_t)(at.x / 2);
}

result canvas_fill(const canvas *c, rectangle at, const uint8_t colour[3]) {
  if (!is_inside(c, at)) return INVALID;
  int half = c->width / 2;
  return I420Rect(c->bytes, c->width, plane_u(c), half, plane_v(c), half, at.x, at.y, at.width, at.height,
                  colour[0], colour[1], colour[2]) == 0
             ? PICTURE
             : FAILED;
}

/* Returns the largest even part of `whole` that has the ratio part:other of a rectangle's sides. */
static int32_t cut(int32_t whole, int32_t beside, int32_t side, int32_t other) {
  int32_t wanted = (int32_t)((int64_t)beside * side / other) & ~1;
  return wanted < 2 ? 2 : wanted < whole ? wanted : whole;
}

result canvas_draw(const canvas *c, rectangle at, const decoder *d) {
  if (!is_inside(c, at)) return INVALID;
  const vpx_image_t *image = d->image;
  if (!image) return NOTHING;
  int32_t width = (int32_t)image->d_w, height = (int32_t)image->d_h;
  int32_t used_width = width, used_height = height;
  if ((int64_t)width * at.height > (int64_t)height * at.width) used_width = cut(width, height, at.width, at.height);
  else used_height = cut(height, width, at.height, at.width);
  /* A side of one pixel cannot be cut to an even part. */
  if (used_width > width) used_width = width;
  if (used_height > height) used_height = height;
  int32_t left = ((width - used_width) / 2) & ~1, top = ((height - used_height) / 2) & ~1;
  int y = image->stride[VPX_PLANE_Y], u = image->stride[VPX_PLANE_U], v = image->stride[VPX_PLANE_V];
  int half = c->width / 2;
  return I420Scale(image->planes[VPX_PLANE_Y] + (ptrdiff_t)top * y + left, y,
                   image->planes[VPX_PLANE_U] + (ptrdiff_t)(top / 2) * u + left / 2, u,
                   image->planes[VPX_PLANE_V] + (ptrdiff_t)(top / 2) * v + left / 2, v, used_width, used_height,
                   c->bytes + luma_at(c, at), c->width, plane_u(c) + chroma_at(c, at), half,
                   plane_v(c) + chroma_at(c, at), half, at.width, at.height, kFilterBox) == 0
             ? PICTURE
             : FAILED;
}

result canvas_scale(const canvas *to, const canvas *from) {
  if (!is_canvas(to) || !is_canvas(from) || to->bytes == from->bytes) return INVALID;
  return I420Scale(from->bytes, from->width, plane_u(from), from->width / 2, plane_v(from), from->width / 2,
                   from->width, from->height, to->bytes, to->width, plane_u(to), to->width / 2, plane_v(to),
                   to->width / 2, to->width, to->height, kFilterBox) == 0
             ? PICTURE
             : FAILED;
}

enum { MOST_KBPS = 20000, MOST_SPEED = 16, RATE = 90000 };

/* The settings of browsers for real-time video: constant bit rate with half a second of buffer, no look-ahead,
 * key frames on request only. A frame is dropped if the buffer is nearly empty; before that, its quality falls as
 * low as it can: a picture that moves is worth more than a sharp one. */
static result configure(encoder *e, encoding how) {
  vpx_codec_enc_cfg_t *g = &e->config;
  if (vpx_codec_enc_config_default(vpx_codec_vp8_cx(), g, 0) != VPX_CODEC_OK) return FAILED;
  g->g_w = (unsigned)how.width;
  g->g_h = (unsigned)how.height;
  g->g_timebase = (vpx_rational_t){1, RATE};
  g->g_threads = 1;
  g->g_lag_in_frames = 0;
  g->g_pass = VPX_RC_ONE_PASS;
  g->g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
  g->rc_end_usage = VPX_CBR;
  g->rc_target_bitrate = (unsigned)how.kbps;
  g->rc_min_quantizer = 2;
  g->rc_max_quantizer = 63;
  g->rc_undershoot_pct = 100;
  g->rc_overshoot_pct = 15;
  g->rc_buf_initial_sz = 500;
  g->rc_buf_optimal_sz = 600;
  g->rc_buf_sz = 1000;
  g->rc_dropframe_thresh = 30;
  g->rc_resize_allowed = 0;
  g->kf_mode = VPX_KF_DISABLED;
  return PICTURE;
}

result encoder_open(encoder *e, encoding how) {
  memset(e, 0, sizeof *e);
  bool is_size = how.width >= LEAST_SIDE && how.height >= LEAST_SIDE && fits(how.width, how.height) &&
                 how.width % 2 == 0 && how.height % 2 == 0;
  if (!is_size || how.kbps < 1 || how.kbps > MOST_KBPS || how.speed < 1 || how.speed > MOST_SPEED) return INVALID;
  if (configure(e, how) != PICTURE) return FAILED;
  if (vpx_codec_enc_init(&e->codec, vpx_codec_vp8_cx(), &e->config, 0) != VPX_CODEC_OK) return FAILED;
  bool is_set = vpx_codec_control(&e->codec, VP8E_SET_CPUUSED, -how.speed) == VPX_CODEC_OK &&
                vpx_codec_control(&e->codec, VP8E_SET_STATIC_THRESHOLD, 1) == VPX_CODEC_OK &&
                vpx_codec_control(&e->codec, VP8E_SET_NOISE_SENSITIVITY, 0) == VPX_CODEC_OK &&
                vpx_codec_control(&e->codec, VP8E_SET_TOKEN_PARTITIONS, VP8_ONE_TOKENPARTITION) == VPX_CODEC_OK &&
                /* Key frames of up to 9 times the mean: half of the buffer at 30 frames per second. */
                vpx_codec_control(&e->codec, VP8E_SET_MAX_INTRA_BITRATE_PCT, 900) == VPX_CODEC_OK;
  e->last = -1;
  if (is_set) return PICTURE;
  encoder_close(e);
  return FAILED;
}

void encoder_close(encoder *e) { vpx_codec_destroy(&e->codec); }

result encoder_rate(encoder *e, int32_t kbps) {
  if (kbps < 1 || kbps > MOST_KBPS) return INVALID;
  e->config.rc_target_bitrate = (unsigned)kbps;
  return vpx_codec_enc_config_set(&e->codec, &e->config) == VPX_CODEC_OK ? PICTURE : FAILED;
}

result encoder_encode(encoder *e, const canvas *c, int64_t timestamp, bool key, uint8_t *to, size_t room,
                      size_t *length) {
  if (!is_canvas(c) || c->width != (int32_t)e->config.g_w || c->height != (int32_t)e->config.g_h) return INVALID;
  if (timestamp <= e->last || timestamp > (int64_t)1 << 50) return INVALID;
  vpx_image_t image;
  if (!vpx_img_wrap(&image, VPX_IMG_FMT_I420, e->config.g_w, e->config.g_h, 1, c->bytes)) return FAILED;
  /* The length of a frame is unknown until the next one: that of the last one is the best guess. */
  int64_t since = timestamp - e->last;
  unsigned long duration = e->last < 0 || since > RATE ? RATE / 25 : (unsigned long)since;
  e->last = timestamp;
  if (vpx_codec_encode(&e->codec, &image, timestamp, duration, key ? VPX_EFLAG_FORCE_KF : 0, VPX_DL_REALTIME) !=
      VPX_CODEC_OK)
    return FAILED;
  result got = NOTHING;
  vpx_codec_iter_t at = NULL;
  for (const vpx_codec_cx_pkt_t *p; (p = vpx_codec_get_cx_data(&e->codec, &at));) {
    if (p->kind != VPX_CODEC_CX_FRAME_PKT || got != NOTHING || p->data.frame.sz == 0) continue;
    got = p->data.frame.sz <= room ? PICTURE : FAILED;
    if (got == PICTURE) memcpy(to, p->data.frame.buf, p->data.frame.sz);
    *length = p->data.frame.sz;
  }
  return got;
}
