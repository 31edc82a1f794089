import type {
  AgentOptions,
  AgentTranscriptEvent,
  CallCollection,
  CallControl,
  Callee,
  CallInfo,
  CallPlayback,
  CallRecording,
  CallStream,
  CallTimes,
  CollectResult,
  ConferenceResult,
  ConnectResult,
  DetectResult,
  HangupReason,
  PlayEnd,
  QueueResult,
  RecordOptions,
  RecordResult,
  ReferResult,
  RoomResult,
  StreamEnd,
} from '../verbs.ts'
import { CallEnded, type VerbFailed } from '../verbs.ts'
import { FakeAgent } from './fake-agent.ts'

/** Default call of tests. */
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

/** Default callee of the test call. */
export const testCallee: Callee = {
  callId: 'c-2',
  to: 'sip:+15550003@carrier.example',
  from: '+15550001',
  type: 'sip',
  sip: { callId: 'sip-2', status: 200, headers: [] },
}

/** Call of a verb: its name and its arguments. */
export type RecordedVerb = readonly [verb: string, ...args: unknown[]]

/** Call for tests that records every verb and settles it with the results that the test prepared. */
export class FakeCall implements CallControl {
  readonly info: CallInfo
  readonly verbs: RecordedVerb[] = []
  /** Results of {@link collect}, in order. */
  readonly collects: CollectResult[] = []
  /** Results of {@link connect}, in order. */
  readonly connects: ConnectResult[] = []
  /** Ends of streams, in order; default when they are stopped. */
  readonly streamEnds: StreamEnd[] = []
  /**
   * Results of recordings, in order; default `silence` after 2 s, or when a recording in the background is
   * stopped.
   */
  readonly recordings: Partial<RecordResult>[] = []
  /** URLs that the storage of recordings returns, in order; default the URL of the storage. */
  readonly stored: Promise<string | undefined>[] = []
  /** Results of the other verbs, in order. */
  readonly conferences: ConferenceResult[] = []
  readonly queues: QueueResult[] = []
  readonly detections: DetectResult[] = []
  readonly referrals: ReferResult[] = []
  /** Agents that were started. */
  readonly agents: FakeAgent[] = []
  /** Conversations of agents, in order: each drives an agent; without one the agent ends as inactive. */
  readonly talks: ((agent: FakeAgent) => unknown)[] = []
  /** Reported events of the agents' transcripts. */
  readonly transcript: AgentTranscriptEvent[] = []
  /** Functions that run before a verb settles, by verb name, with the verb's first argument. */
  readonly during = new Map<string, (options: never) => unknown>()
  /** Failures of verbs, by name. */
  readonly failing = new Map<string, VerbFailed>()
  /** Verb during which the caller hangs up. */
  endsDuring: string | undefined
  isAnswered = false
  times: CallTimes = { startedAt: 1_767_614_400_000 }
  #abort = new AbortController()
  #begun = 0
  #digits = new Set<(digit: string) => void>()

  constructor(info: Partial<CallInfo> = {}) {
    this.info = { ...testInfo, ...info }
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Names of the verbs, in order. */
  get names(): readonly string[] {
    return this.verbs.map(([name]) => name)
  }

  end(): void {
    this.#abort.abort()
  }

  /** Simulates a DTMF digit of the caller. */
  press(digit: string): void {
    for (const listener of this.#digits) listener(digit)
  }

  onVerb(): () => void {
    return () => {}
  }

  onDigit(listener: (digit: string) => void): () => void {
    this.#digits.add(listener)
    return () => this.#digits.delete(listener)
  }

  async answer(...args: unknown[]): Promise<void> {
    await this.#record('answer', args)
    this.isAnswered = true
  }

  async ring(): Promise<void> {
    await this.#record('ring', [])
  }

  async play(options: { readonly autoAnswer?: boolean }): Promise<void> {
    await this.#record('play', [options])
    if (options.autoAnswer !== false) this.isAnswered = true
  }

  async startPlay(options: { readonly autoAnswer?: boolean }): Promise<CallPlayback> {
    await this.#record('startPlay', [options])
    if (options.autoAnswer !== false) this.isAnswered = true
    const { promise, resolve } = Promise.withResolvers<PlayEnd>()
    const { id, record } = this.#handle('p')
    const stop = () => {
      record('stop')
      resolve({ kind: 'stopped' })
    }
    const setVolume = (db: number) => void this.verbs.push(['setVolume', id, db])
    return {
      id,
      ended: promise,
      pause: () => record('pause'),
      resume: () => record('resume'),
      stop,
      setVolume,
    }
  }

  async collect(options: unknown): Promise<CollectResult> {
    await this.#record('collect', [options])
    return this.collects.shift() ?? { reason: 'no-input', digits: '' }
  }

  async startCollect(options: unknown): Promise<CallCollection> {
    await this.#record('startCollect', [options])
    const { id, record } = this.#handle('i')
    const { promise, resolve } = Promise.withResolvers<CollectResult>()
    const result = this.collects.shift()
    if (result) resolve(result)
    const stop = () => {
      record('stop')
      resolve({ reason: 'stopped', digits: '' })
    }
    return { id, result: promise, startTimers: () => record('startTimers'), stop }
  }

  async connect(options: unknown): Promise<ConnectResult> {
    await this.#record('connect', [options])
    const result = this.connects.shift() ?? {
      kind: 'connected',
      endedBy: 'callee',
      durationMs: 61_400,
      callee: testCallee,
    }
    if (result.kind === 'connected') this.isAnswered = true
    if (result.kind === 'connected' && result.endedBy === 'caller') this.end()
    return result
  }

  async joinConference(options: unknown): Promise<ConferenceResult> {
    await this.#record('joinConference', [options])
    this.isAnswered = true
    return this.conferences.shift() ?? { kind: 'left', conferenceId: 'f-1', durationMs: 5000 }
  }

  async joinRoom(options: unknown): Promise<RoomResult> {
    await this.#record('joinRoom', [options])
    this.isAnswered = true
    return { kind: 'left', roomId: 'r-1', roomSessionId: 's-1', durationMs: 5000 }
  }

  async enterQueue(options: unknown): Promise<QueueResult> {
    await this.#record('enterQueue', [options])
    this.isAnswered = true
    const result = this.queues.shift() ?? {
      kind: 'bridged',
      queueId: 'q-1',
      waitedMs: 3000,
      position: 1,
      size: 1,
      durationMs: 9000,
      by: 'c-3',
    }
    if (result.kind === 'hangup') this.end()
    return result
  }

  async startStream(options: unknown): Promise<CallStream> {
    await this.#record('startStream', [options])
    this.isAnswered = true
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    const end = this.streamEnds.shift()
    if (end) resolve(end)
    return { id: 's-1', ended: promise, stop: () => resolve({ kind: 'stopped' }) }
  }

  stopStream(name: string): boolean {
    this.verbs.push(['stopStream', name])
    return true
  }

  async record(options: unknown): Promise<RecordResult> {
    await this.#record('record', [options])
    this.isAnswered = true
    const result = recordResult({ reason: 'silence', ...this.recordings.shift() })
    if (result.reason === 'hangup') this.end()
    return result
  }

  async startRecording(options: RecordOptions): Promise<CallRecording> {
    await this.#record('startRecording', [options])
    this.isAnswered = true
    const { promise, resolve } = Promise.withResolvers<RecordResult>()
    const { id, record } = this.#handle('r')
    const url = `https://gw.example/${id}`
    const laid = this.recordings.shift()
    if (laid) resolve(recordResult({ id, url, ...laid }))
    if (laid?.reason === 'hangup') this.end()
    const stop = () => {
      record('stop')
      resolve(recordResult({ id, url, reason: 'stopped' }))
    }
    const { storage } = options
    const stored = storage && (this.stored.shift() ?? Promise.resolve(storage.url))
    const recording = { id, url, ended: promise, ...(stored && { stored }) }
    return { ...recording, pause: () => record('pause'), resume: () => record('resume'), stop }
  }

  async startAgent(options: AgentOptions): Promise<FakeAgent> {
    await this.#record('startAgent', [options])
    this.isAnswered = true
    const { id } = this.#handle('a')
    const agent = new FakeAgent(id, options)
    this.agents.push(agent)
    this.signal.addEventListener('abort', () => agent.end({ kind: 'hangup' }))
    const talk = this.talks.shift() ?? (() => agent.end({ kind: 'inactive' }))
    // The conversation begins after the verb has resolved.
    setImmediate(() => void talk(agent))
    return agent
  }

  async echo(options: unknown): Promise<void> {
    await this.#record('echo', [options])
    this.isAnswered = true
  }

  async detect(options: unknown): Promise<DetectResult> {
    await this.#record('detect', [options])
    return this.detections.shift() ?? { kind: 'human', durationMs: 800 }
  }

  async sendDigits(digits: string): Promise<void> {
    await this.#record('sendDigits', [digits])
  }

  async hold(...args: unknown[]): Promise<void> {
    await this.#record('hold', args)
  }

  async unhold(): Promise<void> {
    await this.#record('unhold', [])
  }

  async refer(options: unknown): Promise<ReferResult> {
    await this.#record('refer', [options])
    const result = this.referrals.shift() ?? { kind: 'completed', status: 202, notifyStatus: 200 }
    if (result.kind === 'completed') this.end()
    return result
  }

  reportTranscript(event: AgentTranscriptEvent): void {
    this.transcript.push(event)
  }

  sendUserEvent(event: Readonly<Record<string, unknown>>): boolean {
    this.verbs.push(['sendUserEvent', event])
    return true
  }

  async sleep(ms: number): Promise<void> {
    await this.#record('sleep', [ms])
  }

  async hangup(reason?: HangupReason): Promise<void> {
    await this.#record('hangup', reason === undefined ? [] : [reason])
    this.end()
  }

  /** Starts an activity in the background and records it. */
  #handle(letter: string) {
    this.#begun++
    const id = `${letter}-${this.#begun}`
    return { id, record: (what: string) => void this.verbs.push([what, id]) }
  }

  async #record(name: string, args: readonly unknown[]): Promise<void> {
    if (this.signal.aborted) throw new CallEnded()
    this.verbs.push([name, ...args])
    await this.during.get(name)?.(args[0] as never)
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
