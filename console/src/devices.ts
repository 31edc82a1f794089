import type { CallOptions } from '@trunkline/client'
import { read, type Store, write } from './memory.ts'

/** What sound and pictures go through. */
export type DeviceKind = 'microphone' | 'camera' | 'speaker'

/** A device, as the page offers it. */
export interface DeviceChoice {
  readonly id: string
  readonly label: string
}

/** Lists the devices of the browser; by default what the SDK offers. */
export type DeviceSource = Readonly<Record<DeviceKind, () => Promise<readonly MediaDeviceInfo[]>>>

const KEY = 'trunkline.devices'
const names = { microphone: 'Microphone', camera: 'Camera', speaker: 'Speaker' } as const
const kinds = ['microphone', 'camera', 'speaker'] as const
const nothing: Readonly<Record<DeviceKind, readonly DeviceChoice[]>> = {
  microphone: [],
  camera: [],
  speaker: [],
}

/** The devices of this browser, and which of them the person wants; kept for the next visit. */
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
    this.#chosen = chosenOf(read(store, KEY))
  }

  /** Empty until the browser was allowed to tell them, see {@link refresh}. */
  list(kind: DeviceKind): readonly DeviceChoice[] {
    return this.#lists[kind]
  }

  /** Id of the one that the person wants; undefined: whichever the browser takes. */
  chosen(kind: DeviceKind): string | undefined {
    return this.#chosen[kind]
  }

  choose(kind: DeviceKind, id: string | undefined): void {
    this.#chosen = { ...this.#chosen, [kind]: id }
    write(this.#store, KEY, this.#chosen)
    this.#changed()
  }

  /** What a new call is to be made with. A device that is not there any more is replaced by the browser's own choice. */
  options({ video = false }: { readonly video?: boolean } = {}): CallOptions {
    return {
      audio: this.constraints('microphone') ?? true,
      video: video && (this.constraints('camera') ?? true),
    }
  }

  constraints(kind: 'microphone' | 'camera'): MediaTrackConstraints | undefined {
    const id = this.#chosen[kind]
    return id === undefined ? undefined : { deviceId: id }
  }

  /** Reads the lists anew. Never rejects: a browser that tells nothing has no choice to offer. */
  async refresh(): Promise<void> {
    const lists = await Promise.all(kinds.map((kind) => this.#source[kind]().catch(() => [])))
    const [microphone = [], camera = [], speaker = []] = kinds.map((kind, at) =>
      (lists[at] ?? []).map(({ deviceId, label }, index) => ({
        id: deviceId,
        label: label || `${names[kind]} ${index + 1}`,
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
