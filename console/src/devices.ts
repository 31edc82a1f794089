import type { CallOptions } from '@trunkline/client'
import { read, type Store, write } from './memory.ts'
import { texts } from './texts/language.ts'

/** Kind of device for audio or video. */
export type DeviceKind = 'microphone' | 'camera' | 'speaker'

/** Device, as listed on the page. */
export interface DeviceChoice {
  readonly id: string
  readonly label: string
}

/** Lists the devices of the browser; by default the functions of the SDK. */
export type DeviceSource = Readonly<Record<DeviceKind, () => Promise<readonly MediaDeviceInfo[]>>>

const storageKey = 'trunkline.devices'
const kinds = ['microphone', 'camera', 'speaker'] as const
const nothing: Readonly<Record<DeviceKind, readonly DeviceChoice[]>> = {
  microphone: [],
  camera: [],
  speaker: [],
}

/** Devices of this browser, and the user's choices, stored for the next visit. */
export class Devices {
  readonly #source: DeviceSource
  readonly #store: Store
  readonly #changed: () => void
  #lists = nothing
  #chosen: Readonly<Partial<Record<DeviceKind, string>>>

  constructor(source: DeviceSource, store: Store, changed: () => void) {
    this.#source = source
    this.#store = store
    this.#changed = changed
    this.#chosen = chosenOf(read(store, storageKey))
  }

  /** Returns the devices; empty until the browser may report them, see {@link refresh}. */
  list(kind: DeviceKind): readonly DeviceChoice[] {
    return this.#lists[kind]
  }

  /** Id of the chosen device; undefined: the browser's choice. */
  chosen(kind: DeviceKind): string | undefined {
    return this.#chosen[kind]
  }

  choose(kind: DeviceKind, id: string | undefined): void {
    this.#chosen = { ...this.#chosen, [kind]: id }
    write(this.#store, storageKey, this.#chosen)
    this.#changed()
  }

  /**
   * Returns the options of a new call. `video`: whether the call has video. `watches`: whether it receives
   * video without the camera. A device that is no longer present is replaced by the browser's choice.
   */
  options({
    video = false,
    watches = false,
  }: Partial<Record<'video' | 'watches', boolean>> = {}): CallOptions {
    return {
      ...(watches && { negotiateVideo: true }),
      audio: this.constraints('microphone') ?? true,
      video: video && (this.constraints('camera') ?? true),
    }
  }

  constraints(kind: 'microphone' | 'camera'): MediaTrackConstraints | undefined {
    const id = this.#chosen[kind]
    return id === undefined ? undefined : { deviceId: id }
  }

  /** Reads the lists again. Never rejects: if the browser reports no devices, the page offers no choice. */
  async refresh(): Promise<void> {
    const lists = await Promise.all(kinds.map((kind) => this.#source[kind]().catch(() => [])))
    const [microphone = [], camera = [], speaker = []] = kinds.map((kind, at) =>
      (lists[at] ?? []).map(({ deviceId, label }, index) => ({
        id: deviceId,
        label: label || `${texts.value[kind]} ${index + 1}`,
      })),
    )
    this.#lists = { microphone, camera, speaker }
    this.#changed()
  }
}

const chosenOf = (kept: unknown): Partial<Record<DeviceKind, string>> => {
  const found = (kept ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    kinds.flatMap((kind) => (typeof found[kind] === 'string' ? [[kind, found[kind]]] : [])),
  )
}
