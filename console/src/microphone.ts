import { read, type Store, write } from './memory.ts'

/**
 * Use of the microphone in this browser. `ask`: the browser asks at the next use. `missing`: the computer has
 * none. `insecure`: browsers offer no microphone to plain http pages other than localhost.
 */
export type MicrophoneState = 'unknown' | 'ask' | 'granted' | 'blocked' | 'missing' | 'insecure'

/** Used part of the browser. */
export interface MicrophoneSource {
  readonly isSecure: boolean
  /** Returns the permission; undefined if the browser does not tell it. */
  permission(): Promise<PermissionStatus | undefined>
  /** Number of microphones. */
  count(): Promise<number>
}

const storageKey = 'trunkline.checked'

/** Follows whether the browser may use the microphone. */
export class Microphone {
  readonly #source: MicrophoneSource
  readonly #store: Store
  readonly #changed: () => void
  #state: MicrophoneState = 'unknown'

  constructor(source: MicrophoneSource, store: Store, changed: () => void) {
    this.#source = source
    this.#store = store
    this.#changed = changed
  }

  get state(): MicrophoneState {
    return this.#state
  }

  /** Whether every call would fail. */
  get isBroken(): boolean {
    return ['blocked', 'missing', 'insecure'].includes(this.#state)
  }

  /** Whether the user should check the devices before the first call. */
  get needsCheck(): boolean {
    return this.isBroken || (this.#state !== 'granted' && read(this.#store, storageKey) !== true)
  }

  /** Stores that the user has checked the devices. */
  checked(): void {
    write(this.#store, storageKey, true)
  }

  /** Reads the state, and follows the permission from then on. Never rejects. */
  async load(signal: AbortSignal): Promise<void> {
    const permission = await this.#source.permission().catch(() => undefined)
    permission?.addEventListener('change', () => void this.#read(permission), { signal })
    await this.#read(permission)
  }

  /** Reads the state again, for example after a device was connected. */
  async refresh(): Promise<void> {
    await this.#read(await this.#source.permission().catch(() => undefined))
  }

  async #read(permission: PermissionStatus | undefined): Promise<void> {
    const count = await this.#source.count().catch(() => 0)
    this.#state = this.#stateOf(permission?.state, count)
    this.#changed()
  }

  #stateOf(permission: PermissionState | undefined, count: number): MicrophoneState {
    if (!this.#source.isSecure) return 'insecure'
    if (permission === 'denied') return 'blocked'
    if (count === 0) return 'missing'
    return permission === 'granted' ? 'granted' : 'ask'
  }
}

/** Microphone of this browser. */
export const browserMicrophone = (): MicrophoneSource => ({
  isSecure: navigator.mediaDevices !== undefined,
  permission: async () => navigator.permissions?.query({ name: 'microphone' }),
  count: async () => {
    const all = await navigator.mediaDevices.enumerateDevices()
    return all.filter(({ kind }) => kind === 'audioinput').length
  },
})
