/** Objects of the published SDK that the scenarios' page keeps. */
export interface SdkWindow {
  SignalWire: { SignalWire(options: object): Promise<SdkClient> }
  client: SdkClient
  call: SdkCall
  /** Outcome of the `start()` of {@link call}. */
  started: Promise<Fate>
  invites: {
    details: Record<string, unknown>
    accept(options: object): Promise<SdkCall>
    reject(): Promise<void>
  }[]
  /** Names of the events of the last call. */
  events: string[]
  userEvents: unknown[]
  /** Token that replaces one that expires. */
  nextToken?: string
  /** Outcome of the last replacement. */
  renewed?: Promise<unknown>
  /** Call of a shared screen. */
  share: SdkCall
  document: { getElementById(id: string): unknown }
}

export interface SdkClient {
  online(options: object): Promise<unknown>
  updateToken(token: string): Promise<unknown>
  offline(): Promise<unknown>
  dial(options: object): Promise<SdkCall>
  reattach(options: object): Promise<SdkCall>
  disconnect(): Promise<unknown>
  /** Every event of the server, by its type. Absent in older versions. */
  on?(event: string, listener: (params: unknown) => void): void
}

export interface SdkCall {
  readonly active: boolean
  start(): Promise<unknown>
  hangup(): Promise<unknown>
  leave(): Promise<unknown>
  startScreenShare(options: object): Promise<SdkCall>
  on(event: string, listener: () => void): void
}

/** Outcome of a promise of the SDK, as plain data. Rejections are errors or the gateway's answers. */
export type Fate =
  | { readonly resolved: unknown }
  | {
      readonly rejected: { readonly name?: string; readonly code?: unknown; readonly message?: string }
    }

/** Outcome with both members optional, for a test that expects one of them. */
export interface AnyFate {
  readonly resolved?: unknown
  readonly rejected?: { readonly name?: string; readonly code?: unknown; readonly message?: string }
}

/** Events of a call that the scenarios read. */
const callEvents =
  'active destroy call.state call.joined call.updated call.left member.joined member.left member.updated ' +
  'member.updated.audioMuted member.updated.audio_muted layout.changed'

/**
 * Helpers of the scenarios, which run in the page after the SDK was loaded. A text, because the tests lack a
 * page's types.
 */
export const pageScript = `
  Object.assign(globalThis, { invites: [], events: [], userEvents: [] })
  globalThis.watch = (call) => {
    globalThis.call = call
    events.length = 0
    for (const event of ${JSON.stringify(callEvents.split(' '))}) call.on(event, () => events.push(event))
    return call
  }
  globalThis.fate = async (work) => {
    const plain = (value) => { try { return JSON.parse(JSON.stringify(value)) } catch { return undefined } }
    try { return { resolved: plain(await work()) } }
    catch (error) {
      const { name, code, message = String(error) } = error ?? {}
      return { rejected: { name, code, message } }
    }
  }
`
