import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

declare const kind: unique symbol

/** Decoder of VP8 frames; keeps its last picture. */
export interface NativeDecoder {
  readonly [kind]: 'decoder'
}

/** Encoder of VP8 frames of one size. */
export interface NativeEncoder {
  readonly [kind]: 'encoder'
}

/** Results of {@link PicturesAddon.decode}. */
export const Decoded = {
  picture: 1,
  /** The frame is not to be shown. */
  nothing: 0,
  corrupt: -1,
  tooLarge: -2,
  /** A key frame must come first. */
  noKeyFrame: -3,
} as const

/** Longest frame that decoders accept and encoders write, in bytes. */
export const maxFrameBytes = 1 << 20

/**
 * The addon of media/compose/native. A canvas is three arguments: its bytes in I420 without gaps, its width
 * and its height. Rectangles are x, y, width and height in pixels, all even. Wrong arguments throw a
 * TypeError or a RangeError.
 */
export interface PicturesAddon {
  readonly version: number
  decoder(): NativeDecoder
  /** `speed`: 1 to 16; a faster encoder has a lower quality. */
  encoder(width: number, height: number, kbps: number, speed: number): NativeEncoder
  /** Frees the memory of a decoder or an encoder at once. Idempotent. */
  release(handle: NativeDecoder | NativeEncoder): void
  /** Returns a value of {@link Decoded}. The former picture is lost even if the frame is corrupt. */
  decode(decoder: NativeDecoder, frame: Uint8Array): number
  /** Returns width × 65536 + height of the decoder's picture; 0 without a picture. */
  sizeOf(decoder: NativeDecoder): number
  /** `colour`: y, u and v. */
  fill(canvas: Uint8Array, width: number, height: number, at: Int32Array, colour: Uint8Array): void
  /**
   * Scales the decoder's picture to the rectangle, cropped to its aspect ratio. Returns 0 without a picture.
   */
  draw(canvas: Uint8Array, width: number, height: number, at: Int32Array, decoder: NativeDecoder): number
  /** Scales the second canvas to the whole first one. */
  scale(
    to: Uint8Array,
    toWidth: number,
    toHeight: number,
    from: Uint8Array,
    width: number,
    height: number,
  ): void
  /**
   * Encodes a canvas into `to`. `timestamp` is in units of 90 kHz and must increase. Returns the length of
   * the frame; 0 if the rate control drops it. Throws if the frame does not fit.
   */
  encode(
    encoder: NativeEncoder,
    canvas: Uint8Array,
    width: number,
    height: number,
    timestamp: number,
    isKey: boolean,
    to: Uint8Array,
  ): number
  setRate(encoder: NativeEncoder, kbps: number): void
}

/** Version of the addon that this file requires. */
const addonVersion = 1

/** Path of the addon built by `scripts/worker`. */
export const picturesFile: string = fileURLToPath(new URL('./native/compose.node', import.meta.url))

/** Loads the addon. Throws if it was not built or does not fit this Node or system. */
export const loadPictures = (file: string = picturesFile): PicturesAddon => {
  const addon = createRequire(import.meta.url)(file) as PicturesAddon
  if (addon.version !== addonVersion)
    throw new Error(`the addon is version ${addon.version}, ${addonVersion} expected; run scripts/worker`)
  return addon
}

const notBuilt =
  'the addon is not built (Debian: apt-get install gcc libc6-dev libvpx-dev libyuv-dev, then scripts/worker)'

/** Returns the reason why pictures cannot be composed here, in one line; undefined if they can. */
export const composerReason = (file: string = picturesFile): string | undefined => {
  try {
    loadPictures(file)
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'MODULE_NOT_FOUND' ? notBuilt : message.split('\n')[0]
    return `composer unavailable: ${reason}`
  }
}

/** Returns the bytes of a canvas in I420. */
export const canvasBytes = (width: number, height: number): number => (width * height * 3) / 2
