/* Pictures of the composer, without JavaScript: VP8 decoders and encoders of libvpx, and canvases that
 * libyuv draws on. All functions check their arguments and return a negative `result` for invalid ones. */
#ifndef PICTURES_H
#define PICTURES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

/* Longest side and largest area of a picture, decoded or drawn: 1920x1080, upright or not. The area has the
 * padding of both sides to macroblocks of 16. */
enum { MOST_SIDE = 1920, MOST_AREA = 1920 * 1088, LEAST_SIDE = 16 };
/* Longest compressed frame, in bytes. */
enum { MOST_FRAME = 1 << 20 };

/* NOTHING: success without a picture or a frame, such as a frame that is not to be shown. */
typedef enum {
  PICTURE = 1,
  NOTHING = 0,
  CORRUPT = -1,
  TOO_LARGE = -2,
  NO_KEY_FRAME = -3,
  INVALID = -4,
  FAILED = -5,
} result;

/* Rectangle of a canvas in pixels; all even, because four pixels share their colour. */
typedef struct {
  int32_t x, y, width, height;
} rectangle;

/* `image` belongs to the codec and is valid until the next frame; NULL without a picture. */
typedef struct {
  vpx_codec_ctx_t codec;
  const vpx_image_t *image;
  bool has_key;
} decoder;

/* Luma, followed by both chroma planes, without gaps; the caller's memory. */
typedef struct {
  uint8_t *bytes;
  size_t length;
  int32_t width, height;
} canvas;

typedef struct {
  vpx_codec_ctx_t codec;
  vpx_codec_enc_cfg_t config;
  int64_t last; /* timestamp of the last frame, -1 before the first */
} encoder;

typedef struct {
  int32_t width, height, kbps, speed;
} encoding;

result decoder_open(decoder *d);
void decoder_close(decoder *d);
/* Decodes one frame. The former picture is lost even if the frame is corrupt. */
result decoder_decode(decoder *d, const uint8_t *frame, size_t length);

result canvas_fill(const canvas *c, rectangle at, const uint8_t colour[3]);
/* Scales the picture of a decoder to fill the rectangle; what exceeds its aspect ratio is cut off evenly.
 * Returns NOTHING without a picture. */
result canvas_draw(const canvas *c, rectangle at, const decoder *d);
/* Scales a whole canvas onto another one. */
result canvas_scale(const canvas *to, const canvas *from);

result encoder_open(encoder *e, encoding how);
void encoder_close(encoder *e);
result encoder_rate(encoder *e, int32_t kbps);
/* Encodes a canvas of the encoder's size. `timestamp` is in units of 90 kHz and must increase. Returns NOTHING
 * if the rate control drops the frame, FAILED if it does not fit into `room` bytes. */
result encoder_encode(encoder *e, const canvas *c, int64_t timestamp, bool key, uint8_t *to, size_t room,
                      size_t *length);
#endif
