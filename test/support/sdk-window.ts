/** What the scenarios' page keeps of the published SDK's objects. */
export interface SdkWindow {
  SignalWire: { SignalWire(options: object): Promise<SdkClient> }
  client: SdkClient
  call: SdkCall
  /** Settles as the `start()` of {@link call} did. */
  started: Promise<Fate>
  invites: {
    details: Record<string, unknown>
    accept(options: object): Promise<SdkCall>
    reject(): Promise<void>
  }[]
  /** Names of the events of the last call. */
  events: string[]
  told: unknown[]
  /** Of a screen that is shared. */
  share: SdkCall
  document: { getElementById(id: string): unknown }
}

export interface SdkClient {
  online(options: object): Promise<unknown>
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

/** What became of a promise of the SDK, as plain data. It rejects with errors, and with what the gateway answered. */
export type Fate =
  | { readonly resolved: unknown }
  | {
      readonly rejected: { readonly name?: string; readonly code?: unknown; readonly message?: string }
    }

/** The same for whoever knows which of the two it is. */
export interface AnyFate {
  readonly resolved?: unknown
  readonly rejected?: { readonly name?: string; readonly code?: unknown; readonly message?: string }
}

/** Of the events of a call, those that the scenarios look at. */
const callEvents =
  'active destroy call.state call.joined call.updated call.left member.joined member.left member.updated ' +
  'member.updated.audioMuted member.updated.audio_muted layout.changed'

/** Runs in the page once the SDK is there: helpers of the scenarios. A text: it has no types of a page. */
export const pageScript = `
  Object.assign(globalThis, { invites: [], events: [], told: [] })
  globalThis.watch = (call) => {
    globalThis.call = call
    events.length = 0
    for (const event of ${JSON.stringify(callEvents.split(' '))}) call.on(event, () => events.push(event))
    return call
  }
  globalThis.fate = async (work) => {
    const plain = (value) => { try { return JSON.parse(JSON.stringify(value)) } catch { return undefined } }
    try { return { resolved: plain(await work()) } }
    catch (error) { return { rejected: { name: error?.name, code: error?.code, message: error?.message ?? String(error) } } }
  }
`
