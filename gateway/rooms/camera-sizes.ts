import type { SteadyClock, Timer } from '../core/clock.ts'
import type { Picture, PictureLayer } from './room-types.ts'

/** Size of a camera that its place in the picture needs. */
export interface CameraSize {
  /** Pixels. */
  readonly width: number
  readonly height: number
  /** Maximum frames per second. */
  readonly frameRate: number
  /** Maximum bit rate in bit/s. */
  readonly bitRate: number
}

/** Width of the composed canvas in pixels. */
const canvasWidth = 1280
const steps = [
  { width: 320, height: 180, bitRate: 200_000 },
  { width: 480, height: 270, bitRate: 400_000 },
  { width: 640, height: 360, bitRate: 600_000 },
  { width: 960, height: 540, bitRate: 800_000 },
  { width: 1280, height: 720, bitRate: 1_000_000 },
] as const
/** Frames per second of a composed picture with few cameras, and with many. */
const fewRate = 30
const manyRate = 20
/** Maximum number of visible cameras that are few. */
const few = 4

/** Size of a camera that fills the picture. */
export const fullCamera: CameraSize = { ...steps.at(-1)!, frameRate: fewRate }

/** Returns the size that a camera needs in a picture, by the rectangle of its member. */
export const cameraSizeIn = (picture: Picture, memberId: string): CameraSize => {
  // Every camera may become the picture, at once.
  if (picture.kind === 'speaker') return fullCamera
  const visible = picture.layers.filter(({ isVisible }) => isVisible)
  const frameRate = visible.length > few ? manyRate : fewRate
  const own = visible.filter((layer) => layer.memberId === memberId)
  const pixels = Math.max(0, ...own.map(pixelsOf))
  const step = steps.find(({ width }) => width >= pixels) ?? fullCamera
  return { ...step, frameRate }
}

/** Returns the width in pixels of a picture of 16:9 that covers the rectangle. */
const pixelsOf = ({ width, height }: PictureLayer): number =>
  Math.floor((Math.max(width, height) * canvasWidth) / 100)

/** Wait in ms before cameras become larger, so that several changes are one. */
const growMs = 500
/** Wait before a camera becomes smaller: each change costs a key frame, and a speaker may be back soon. */
const shrinkMs = 10_000

/** Collaborators of {@link CameraSizes}. */
export interface CameraSizesDeps {
  readonly clock: SteadyClock
  /** Called for each change of a camera's size. A new camera is expected to have the full size. */
  readonly onChange: (memberId: string, size: CameraSize) => void
}

interface Camera {
  size: CameraSize
  /** Time since which the camera is larger than its place. */
  tooLargeSince: number | undefined
}

const isEqual = (a: CameraSize, b: CameraSize): boolean => a.width === b.width && a.frameRate === b.frameRate

/**
 * Sizes of the cameras of a room, by their places in the picture. A camera becomes larger 0.5 s after its
 * place, and smaller after 10 s.
 */
export class CameraSizes {
  readonly #deps: CameraSizesDeps
  readonly #cameras = new Map<string, Camera>()
  #picture: Picture = { kind: 'speaker' }
  #timer: { readonly at: number; readonly timer: Timer } | undefined

  constructor(deps: CameraSizesDeps) {
    this.#deps = deps
  }

  /** Returns the size of a member's camera; the full one if it is unknown. */
  sizeOf(memberId: string): CameraSize {
    return this.#cameras.get(memberId)?.size ?? fullCamera
  }

  /** Adds a camera. No effect if it is known. */
  add(memberId: string): void {
    if (this.#cameras.has(memberId)) return
    this.#cameras.set(memberId, { size: fullCamera, tooLargeSince: undefined })
    this.#review()
  }

  /** Removes a camera. No effect if unknown. */
  remove(memberId: string): void {
    this.#cameras.delete(memberId)
  }

  /** Applies a picture. */
  show(picture: Picture): void {
    this.#picture = picture
    this.#review()
  }

  /** Stops the timer. */
  close(): void {
    this.#timer?.timer.cancel()
    this.#timer = undefined
    this.#cameras.clear()
  }

  /** Sets the timer for the next change that is due. */
  #review(): void {
    const now = this.#deps.clock.uptime()
    let at = Number.POSITIVE_INFINITY
    for (const [memberId, camera] of this.#cameras) {
      const wanted = cameraSizeIn(this.#picture, memberId)
      const isTooLarge = wanted.width < camera.size.width
      camera.tooLargeSince = isTooLarge ? (camera.tooLargeSince ?? now) : undefined
      if (isEqual(wanted, camera.size)) continue
      at = Math.min(at, camera.tooLargeSince === undefined ? now + growMs : camera.tooLargeSince + shrinkMs)
    }
    if (this.#timer && this.#timer.at <= at) return
    this.#timer?.timer.cancel()
    this.#timer = undefined
    if (at === Number.POSITIVE_INFINITY) return
    this.#timer = { at, timer: this.#deps.clock.after(at - now, () => this.#apply()) }
  }

  #apply(): void {
    this.#timer = undefined
    const now = this.#deps.clock.uptime()
    for (const [memberId, camera] of this.#cameras) {
      const wanted = cameraSizeIn(this.#picture, memberId)
      const { tooLargeSince } = camera
      if (tooLargeSince !== undefined && now < tooLargeSince + shrinkMs) continue
      if (isEqual(wanted, camera.size)) continue
      camera.size = wanted
      camera.tooLargeSince = undefined
      this.#deps.onChange(memberId, wanted)
    }
    this.#review()
  }
}
