/** Data of the thread that runs Silero's model. */
export interface SileroData {
  /** Path of the runtime's entry file. */
  readonly runtime: string
  readonly model: Uint8Array<SharedArrayBuffer>
}

/** Message to the thread. `stream`: the call; `sound`: number of the sound within it. */
export type SileroJob =
  | { readonly op: 'hear'; readonly stream: number; readonly sound: number; readonly samples: Int16Array }
  | { readonly op: 'close'; readonly stream: number }

/**
 * Message from the thread. `heard` answers each `hear`; `broken` is the last one, if nothing can be loaded.
 */
export type SileroReply =
  | { readonly op: 'ready' }
  | { readonly op: 'broken'; readonly reason: string }
  | {
      readonly op: 'heard'
      readonly stream: number
      readonly sound: number
      readonly probabilities: readonly number[]
    }
