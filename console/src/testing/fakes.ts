/** Fakes of the store, calls and invites, for tests without a browser. */
import { type Call, type CallState, ClientError, type Invite } from '@trunkline/client'
import { Devices } from '../devices.ts'
import { CallMemory, RecentCalls, type Store } from '../memory.ts'
import { Phone, type PhoneClient } from '../phone.ts'

/** Separate `Storage`. */
export const fakeStore = (): Store => {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** Fake of the SDK's call. */
export class FakeCall {
  readonly id: string
  state: CallState = 'trying'
  hasMedia = true
  isHeldByOthers = false
  muted = { audio: false, video: false }
  video = { local: false, remote: false }
  screenShareList: { state: string; leave(): Promise<void> }[] = []
  digits: string[] = []
  /** Commands in order, by name. */
  asked: string[] = []
  /** Error of the next command. */
  failing: ClientError | undefined
  started = Promise.withResolvers<void>()
  direction = 'outbound'
  reason: ClientError | undefined
  readonly #listeners = new Map<string, (payload: object) => void>()

  constructor(id = 'a') {
    this.id = id
    this.started.promise.catch(() => {})
  }
  get active(): boolean {
    return this.state === 'active' || this.state === 'held'
  }
  on(name: string, listener: (payload: object) => void): void {
    this.#listeners.set(name, listener)
  }
  tell(name: string, payload: object = {}): void {
    this.#listeners.get(name)?.(payload)
  }
  start(): Promise<void> {
    return this.started.promise
  }
  async hangup(): Promise<void> {
    this.end(new ClientError('normal', ''))
  }
  async sendDigits(digits: string): Promise<void> {
    this.digits.push(digits)
  }
  hold(): Promise<void> {
    return this.#ask('hold', () => this.become('held'))
  }
  unhold(): Promise<void> {
    return this.#ask('unhold', () => this.become('active'))
  }
  updateMedia(params: object): Promise<void> {
    return this.#ask(`media ${JSON.stringify(params)}`)
  }
  updateMicrophone({ deviceId }: { deviceId: string }): Promise<void> {
    return this.#ask(`microphone ${deviceId}`)
  }
  updateCamera({ deviceId }: { deviceId: string }): Promise<void> {
    return this.#ask(`camera ${deviceId}`)
  }
  updateSpeaker({ deviceId }: { deviceId: string }): Promise<void> {
    return this.#ask(`speaker ${deviceId}`)
  }
  async startScreenShare(): Promise<object> {
    await this.#ask('share')
    return { on: () => {} }
  }
  become(state: CallState): void {
    this.state = state
    this.tell('state')
  }
  end(reason: ClientError): void {
    this.reason = reason
    this.started.reject(reason)
    this.become('ended')
    this.tell('destroy', { reason })
  }
  async #ask(what: string, done?: () => void): Promise<void> {
    this.asked.push(what)
    if (this.failing) throw this.failing
    done?.()
  }
}

/** Fake of the SDK's invite. */
export class FakeInvite {
  readonly details: object
  readonly cancel: (reason: ClientError) => void
  readonly canceled: Promise<ClientError>
  isPending = true
  rejected = false
  accept: () => Promise<FakeCall> = async () => {
    this.isPending = false
    const call = new FakeCall(`call ${this.id}`)
    call.state = 'active'
    return call
  }
  readonly id: string

  constructor(id: string, name: string, sdp = '') {
    this.id = id
    const { promise, resolve } = Promise.withResolvers<ClientError>()
    this.canceled = promise
    this.cancel = resolve
    this.details = { callID: id, caller_id_name: name, caller_id_number: `+1${id}`, sdp }
  }
  async reject(): Promise<void> {
    this.rejected = true
  }
}

/** Creates a phone whose client is not connected. */
export const phoneRig = async () => {
  const calls: FakeCall[] = []
  const dialled: object[] = []
  const timers = new Set<() => void>()
  let online = false
  let now = 1000
  const rig = {
    calls,
    dialled,
    /** Waiting timers, in the order of their start. */
    timers,
    /** Options of each `reattach`. */
    reattached: [] as object[],
    /** Result of `reattach`; undefined for none. */
    kept: undefined as FakeCall | undefined,
    /** Runs when a push notification is handled. */
    pushed: (): FakeCall => new FakeCall(),
    at: (time: number) => {
      now = time
    },
  }
  const client = {
    connectionState: 'connected',
    get isOnline() {
      return online
    },
    on: () => {},
    online: async () => {
      online = true
    },
    offline: async () => {
      online = false
    },
    dial: async (options: { to: string }) => {
      if (options.to === ' ') throw new ClientError('bad_argument', 'to: expected an address, got nothing')
      const call = new FakeCall(`out ${calls.length}`)
      calls.push(call)
      dialled.push(options)
      return call as unknown as Call
    },
    reattach: async (options: object) => {
      rig.reattached.push(options)
      if (!rig.kept) throw new ClientError('session_lost', '')
      return rig.kept as unknown as Call
    },
    handlePushNotification: async () => ({
      resultType: 'inboundCall',
      resultObject: rig.pushed() as unknown as Call,
    }),
    disconnect: () => {},
  } as unknown as PhoneClient
  const none = async () => []
  const recents = new RecentCalls(fakeStore(), '/public/alice')
  const memory = new CallMemory(fakeStore())
  const devices = new Devices({ microphone: none, camera: none, speaker: none }, fakeStore(), () => {})
  const after = (_ms: number, run: () => void) => {
    timers.add(run)
    return { cancel: () => void timers.delete(run) }
  }
  const clock = { now: () => now, after }
  const phone = new Phone({ client, clock, recents, memory, devices, changed: () => {} })
  await phone.setOnline(true)
  const ring = (invite: FakeInvite) => phone.ring(invite as unknown as Invite)
  return Object.assign(rig, { phone, recents, memory, devices, ring })
}
