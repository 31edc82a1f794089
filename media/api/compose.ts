/**
 * Rendition of a composed picture. `high`: the whole canvas. `low`: the same, scaled to a width of 640
 * pixels, with at most 20 frames in a second.
 */
export type Rendition = 'low' | 'high'

/** Rectangle of a composed picture, in percent from the top left corner of the canvas. */
export interface ComposedLayer {
  /** Id of the source that fills the rectangle. The rectangle is plain while no such source has a picture. */
  readonly memberId: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** The lowest is drawn first. */
  readonly z: number
  /** Whether the picture is drawn; else the rectangle is plain. */
  readonly isVisible: boolean
  /**
   * Treatment of another aspect ratio. `cover`: the picture is cropped. `contain`: it is shown whole, between
   * plain bars, as a shared screen needs. Default `cover`.
   */
  readonly fit?: 'cover' | 'contain'
  /** Name in the middle of the rectangle while it is plain, at most 256 UTF-16 units. Default none. */
  readonly name?: string
  /** Whether the name is also shown over the picture, at its lower left. Default false. */
  readonly isCaptioned?: boolean
}

/** Size of a canvas in pixels: even, 16 to 1920, at most 1920 × 1080. */
export interface CanvasSize {
  readonly width: number
  readonly height: number
}

/** Settings of a composed picture. */
export interface ComposedPictureOptions {
  /** RTP payload type of both renditions, 0 to 127; default 96. */
  readonly payloadType?: number
  /** SSRCs of the renditions; default random ones. */
  readonly ssrcs?: Readonly<Record<Rendition, number>>
  /** Canonical name in the sender reports; default random. */
  readonly cname?: string
  /** Target bit rates in kbit/s; default 1500 and 250. */
  readonly kbps?: Readonly<Record<Rendition, number>>
}

/** VP8 stream of a source, as RTP over UDP on 127.0.0.1. */
export interface ComposedSource {
  readonly ssrc: number
  readonly payloadType: number
  /** Port that sends the stream, and that receives the requests for key frames (RTCP). */
  readonly from: { readonly port: number }
}

/** Shares of a core over the last second, from 0. */
export interface ComposedLoad {
  /** Of this picture. */
  readonly picture: number
  /** Of its process, with all pictures in it. */
  readonly process: number
}

/** Picture of a room, composed from the cameras and screens of its members. */
export interface ComposedPicture {
  readonly ssrcs: Readonly<Record<Rendition, number>>
  readonly payloadType: number
  readonly cname: string
  readonly load: ComposedLoad
  /**
   * Announces a source, and resolves with the port on 127.0.0.1 that takes its RTP. A known id is replaced.
   * Rejects with a RangeError for an invalid stream, and if the picture is closed or lost.
   */
  addSource(id: string, stream: ComposedSource): Promise<{ readonly port: number }>
  /** Removes a source; its rectangle becomes plain. No effect if unknown. */
  removeSource(id: string): void
  /**
   * Changes the layers, and the size of the canvas; default 1280 × 720. Throws a RangeError for an invalid
   * size or more than 128 layers.
   */
  draw(layers: readonly ComposedLayer[], canvas?: CanvasSize): void
  /** Sets whether the rendition `low` is encoded and sent; default false. */
  enableLow(isEnabled: boolean): void
  /** Requests a key frame of one rendition, or of both. A rendition has one at most every 500 ms. */
  requestKeyFrame(rendition?: Rendition): void
  /** Calls the listener for each packet: RTP with VP8, and sender reports of each rendition (RTCP). */
  onPacket(listener: (rendition: Rendition, packet: Buffer, kind: 'rtp' | 'rtcp') => void): void
  /** Calls the listener with the id of each added source when its first picture has arrived. */
  onPictured(listener: (id: string) => void): void
  /** Adds a listener for sources whose packets have given no picture for 4 s, despite a key frame request. */
  onStalled(listener: (id: string) => void): void
  /**
   * Calls the listener once if the process of the picture has died. The picture is closed then; another one
   * can be opened at once.
   */
  onLost(listener: (reason: Error) => void): void
  /** Ends the picture. Idempotent. */
  close(): Promise<void>
}

/** Processes that compose pictures. */
export interface Composers {
  /** Reason why no picture can be composed on this machine; undefined if it can. */
  readonly unavailable?: string
  /** Load of the process in which the next picture would be composed, as a share of a core from 0. */
  readonly load: number
  /**
   * Opens a picture in the least busy process. Waits while a process that has died restarts: first at once,
   * then after 0.5 s, doubled up to 30 s. Rejects if composing is unavailable or the composers are closed.
   */
  open(options?: ComposedPictureOptions): Promise<ComposedPicture>
  /** Ends all pictures and processes. Idempotent. */
  close(): Promise<void>
}
