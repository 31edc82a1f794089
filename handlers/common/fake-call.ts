import type { DocumentFault, DocumentRequest, FetchedDocument, HandlerContext } from '../handler.ts'
import type {
  CallControl,
  CallInfo,
  CallRecording,
  CallStream,
  CollectResult,
  ConnectResult,
  HangupReason,
  RecordResult,
  StreamEnd,
} from '../verbs.ts'
import { CallEnded, type VerbFailed } from '../verbs.ts'

/** The call that tests run documents on, unless they say otherwise. */
export const testInfo: CallInfo = {
  callId: 'c-1',
  direction: 'inbound',
  type: 'sip',
  from: 'sip:+15550001@carrier.example',
  to: 'sip:+15550002@demo.localhost',
  fromUser: '+15550001',
  toUser: '+15550002',
  fromName: 'Ann',
  headers: [{ name: 'X-Order', value: '%2B42' }],
  projectId: 'demo',
  sip: { callId: 'sip-1', domain: 'demo.localhost', sourceAddress: '192.0.2.1' },
}

/** A verb as it was called: its name and its arguments. */
export type Recorded = readonly [verb: string, ...args: unknown[]]

/** A call for tests: it records every verb and answers with what the test has laid ready. */
export class FakeCall implements CallControl {
  readonly info: CallInfo
  readonly verbs: Recorded[] = []
  /** Answers of {@link collect} and {@link connect}, taken in order. */
  readonly collects: CollectResult[] = []
  readonly connects: ConnectResult[] = []
  /** How the streams that are started end, in order; none laid ready: when they are stopped. */
  readonly streamEnds: StreamEnd[] = []
  /** How recordings end, in order; none laid ready: `silence` after 2 s, and in the background when they are stopped. */
  readonly recordings: Partial<RecordResult>[] = []
  /** Verbs that fail, by name. */
  readonly failing = new Map<string, VerbFailed>()
  /** The verb during which the caller hangs up. */
  endsDuring: string | undefined
  answered = false
  #abort = new AbortController()
  #begun = 0

  constructor(info: Partial<CallInfo> = {}) {
    this.info = { ...testInfo, ...info }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The names of the verbs, in order. */
  get names(): readonly string[] {
    return this.verbs.map(([name]) => name)
  }

  end(): void {
    this.#abort.abort()
  }

  async answer(...args: unknown[]): Promise<void> {
    this.#record('answer', args)
    this.answered = true
  }

  async play(options: { readonly autoAnswer?: boolean }): Promise<void> {
    this.#record('play', [options])
    if (options.autoAnswer !== false) this.answered = true
  }

  async collect(options: unknown): Promise<CollectResult> {
    this.#record('collect', [options])
    return this.collects.shift() ?? { reason: 'no-input', digits: '' }
  }

  async connect(options: unknown): Promise<ConnectResult> {
    this.#record('connect', [options])
    const result = this.connects.shift() ?? {
      kind: 'connected',
      endedBy: 'callee',
      durationMs: 61_400,
      calleeCallId: 'c-2',
    }
    if (result.kind === 'connected') this.answered = true
    if (result.kind === 'connected' && result.endedBy === 'caller') this.end()
    return result
  }

  async startStream(options: unknown): Promise<CallStream> {
    this.#record('startStream', [options])
    this.answered = true
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    const end = this.streamEnds.shift()
    if (end) resolve(end)
    return { id: 's-1', ended: promise, stop: () => resolve({ kind: 'stopped' }) }
  }

  stopStream(name: string): boolean {
    this.#record('stopStream', [name])
    return true
  }

  async record(options: unknown): Promise<RecordResult> {
    this.#record('record', [options])
    this.answered = true
    const result = recordResult({ reason: 'silence', ...this.recordings.shift() })
    if (result.reason === 'hangup') this.end()
    return result
  }

  async startRecording(options: unknown): Promise<CallRecording> {
    this.#record('startRecording', [options])
    this.answered = true
    const { promise, resolve } = Promise.withResolvers<RecordResult>()
    this.#begun++
    const id = `r-${this.#begun}`
    const told = (what: string) => this.verbs.push([what, id])
    const stop = () => {
      told('stop')
      resolve(recordResult({ id, reason: 'stopped' }))
    }
    const url = `https://gw.example/${id}`
    return { id, url, ended: promise, pause: () => told('pause'), resume: () => told('resume'), stop }
  }

  async sendDigits(digits: string): Promise<void> {
    this.#record('sendDigits', [digits])
  }

  async sleep(ms: number): Promise<void> {
    this.#record('sleep', [ms])
  }

  async hangup(reason?: HangupReason): Promise<void> {
    this.#record('hangup', reason === undefined ? [] : [reason])
    this.end()
  }

  #record(name: string, args: readonly unknown[]): void {
    if (this.signal.aborted) throw new CallEnded()
    this.verbs.push([name, ...args])
    const failure = this.failing.get(name)
    if (failure) throw failure
    if (this.endsDuring !== name) return
    this.end()
    throw new CallEnded()
  }
}

const recordResult = (of: Partial<RecordResult>): RecordResult => ({
  id: 'r-1',
  url: 'https://gw.example/r-1',
  reason: 'stopped',
  durationMs: 2000,
  bytes: 32_044,
  ...of,
})

/** A context for tests: documents by URL (an error is thrown), requests and warnings kept. */
export class FakeContext implements HandlerContext {
  readonly documents: Record<string, string | Error>
  readonly contentType: string
  readonly requests: DocumentRequest[] = []
  readonly warnings: DocumentFault[] = []

  constructor(documents: Record<string, string | Error> = {}, contentType = '') {
    this.documents = documents
    this.contentType = contentType
  }

  /** The form or query of one request, as an object. */
  fields(index: number): Record<string, string> {
    const request = this.requests[index]
    const text = request?.method === 'GET' ? new URL(request.url).search : request?.body?.text
    return Object.fromEntries(new URLSearchParams(text))
  }

  async fetchDocument(request: DocumentRequest): Promise<FetchedDocument> {
    this.requests.push(request)
    const url = request.url.split('?', 1)[0] ?? ''
    const text = this.documents[url]
    if (text === undefined) throw new Error(`404 for ${url}`)
    if (text instanceof Error) throw text
    return { url: request.url, contentType: this.contentType, text }
  }

  warn(fault: DocumentFault): void {
    this.warnings.push(fault)
  }
}
