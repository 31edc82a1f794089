import { type Call, type CallState, ClientError, type Invite } from '@trunkline/client'
import { describe, expect, it } from 'vitest'
import { RecentCalls, type Store } from './memory.ts'
import { Phone, type PhoneClient } from './phone.ts'

const store = (): Store => {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

class FakeCall {
  state: CallState = 'trying'
  muted = { audio: false, video: false }
  digits: string[] = []
  started = Promise.withResolvers<void>()
  direction = 'outbound'
  reason: ClientError | undefined
  #listeners = new Map<string, (payload: object) => void>()

  get active(): boolean {
    return this.state === 'active' || this.state === 'held'
  }
  on(name: string, listener: (payload: object) => void): void {
    this.#listeners.set(name, listener)
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
  async hold(): Promise<void> {
    throw new ClientError('server', 'no')
  }
  become(state: CallState): void {
    this.state = state
    this.#listeners.get('state')?.({})
  }
  hear(digits: string): void {
    this.#listeners.get('dtmf')?.({ digits })
  }
  end(reason: ClientError): void {
    this.reason = reason
    this.started.reject(reason)
    this.become('ended')
    this.#listeners.get('destroy')?.({ reason })
  }
}

class FakeInvite {
  readonly details: object
  readonly cancel: (reason: ClientError) => void
  readonly canceled: Promise<ClientError>
  isPending = true
  rejected = false
  accept: () => Promise<FakeCall> = async () => {
    this.isPending = false
    const call = new FakeCall()
    call.state = 'active'
    return call
  }

  constructor(callID: string, name: string) {
    const { promise, resolve } = Promise.withResolvers<ClientError>()
    this.canceled = promise
    this.cancel = resolve
    this.details = { callID, caller_id_name: name, caller_id_number: `+1${callID}` }
  }
  async reject(): Promise<void> {
    this.rejected = true
  }
}

const setUp = async () => {
  const calls: FakeCall[] = []
  let ring: (invite: FakeInvite) => void = () => {}
  let online = false
  const client = {
    connectionState: 'connected',
    get isOnline() {
      return online
    },
    on: () => {},
    online: async ({
      incomingCallHandlers,
    }: {
      incomingCallHandlers: { all: (n: { invite: Invite }) => void }
    }) => {
      online = true
      ring = (invite) => incomingCallHandlers.all({ invite: invite as unknown as Invite })
    },
    offline: async () => {
      online = false
    },
    dial: async ({ to }: { to: string }) => {
      if (to === ' ') throw new ClientError('bad_argument', 'to: expected an address, got nothing')
      const call = new FakeCall()
      calls.push(call)
      return call as unknown as Call
    },
    disconnect: () => {},
  } as unknown as PhoneClient
  let now = 1000
  const recents = new RecentCalls(store(), '/public/alice')
  const clock = { now: () => now, after: () => ({ cancel: () => {} }) }
  const phone = new Phone(client, clock, recents, () => {})
  await phone.setOnline(true)
  return {
    phone,
    calls,
    recents,
    ring: (invite: FakeInvite) => ring(invite),
    at: (time: number) => {
      now = time
    },
  }
}

const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('a call from here', () => {
  it('is shown until it ends, with the time of its answer, and remembered', async () => {
    const { phone, calls, recents, at } = await setUp()
    await phone.dial('/public/bob')
    expect(phone.current).toMatchObject({ name: '/public/bob', answeredAt: undefined })
    at(5000)
    calls[0]!.become('active')
    expect(phone.current?.answeredAt).toBe(5000)
    at(9000)
    calls[0]!.become('held')
    expect(phone.current?.answeredAt).toBe(5000)
    phone.hangup()
    expect(phone.current).toBeUndefined()
    expect(phone.notice).toEqual({ tone: 'plain', text: 'Call ended.' })
    expect(recents.list).toEqual([
      { to: '/public/bob', name: '/public/bob', direction: 'outbound', at: 1000 },
    ])
  })

  it('that fails says why in plain words', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.end(new ClientError('busy', 'USER_BUSY'))
    expect(phone.notice).toEqual({ tone: 'warning', text: 'The line is busy.' })
  })

  it('to what is no address is told as that, not as a failure of the connection', async () => {
    const { phone } = await setUp()
    await phone.dial(' ')
    expect(phone.notice).toEqual({
      tone: 'warning',
      text: 'This address cannot be called. Please check it.',
    })
    expect(phone.isBusy).toBe(false)
  })

  it('is the only one', async () => {
    const { phone, calls } = await setUp()
    await Promise.all([phone.dial('/public/bob'), phone.dial('/public/carol')])
    await phone.dial('/public/dave')
    expect(calls).toHaveLength(1)
  })

  it('shows the keys of both sides, and sends none before there is audio', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    await phone.press('1')
    calls[0]!.become('early')
    await phone.press('2')
    calls[0]!.hear('9')
    expect(calls[0]!.digits).toEqual(['2'])
    expect(phone.current).toMatchObject({ pressed: '2', received: '9' })
  })

  it('says so when the server does not hold it', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    await phone.toggleHold()
    expect(phone.notice?.tone).toBe('warning')
  })
})

describe('a call to here', () => {
  it('is shown and answered', async () => {
    const { phone, ring, recents } = await setUp()
    ring(new FakeInvite('7', 'Bob'))
    expect(phone.incoming).toMatchObject([{ id: '7', name: 'Bob', number: '+17' }])
    await phone.accept('7')
    expect(phone.incoming).toEqual([])
    expect(phone.current).toMatchObject({ name: 'Bob', answeredAt: 1000 })
    expect(recents.list[0]?.direction).toBe('inbound')
  })

  it('can only be declined during another, and taken once that has ended', async () => {
    const { phone, ring, calls } = await setUp()
    await phone.dial('/public/bob')
    const invite = new FakeInvite('7', 'Carol')
    ring(invite)
    await phone.accept('7')
    expect(invite.isPending).toBe(true)
    calls[0]!.end(new ClientError('normal', ''))
    await phone.accept('7')
    expect(phone.current?.name).toBe('Carol')
  })

  it('that is declined is told to the server, and remembered', async () => {
    const { phone, ring, recents } = await setUp()
    const invite = new FakeInvite('7', '')
    ring(invite)
    phone.reject('7')
    expect(invite.rejected).toBe(true)
    expect(phone.incoming).toEqual([])
    expect(recents.list[0]).toMatchObject({ direction: 'missed', name: '+17' })
  })

  it('that is given up is a missed call; one answered elsewhere is not', async () => {
    const { phone, ring, recents } = await setUp()
    const first = new FakeInvite('7', 'Bob')
    ring(first)
    first.cancel(new ClientError('answered_elsewhere', ''))
    await turn()
    expect(recents.list).toEqual([])
    const second = new FakeInvite('8', 'Bob')
    ring(second)
    second.cancel(new ClientError('canceled', ''))
    await turn()
    expect(phone.incoming).toEqual([])
    expect(phone.notice?.text).toBe('Missed call from Bob.')
    expect(recents.list[0]?.direction).toBe('missed')
  })

  it('waits on when the microphone is refused', async () => {
    const { phone, ring } = await setUp()
    const invite = new FakeInvite('7', 'Bob')
    invite.accept = () => Promise.reject(new ClientError('microphone_refused', ''))
    ring(invite)
    await phone.accept('7')
    expect(phone.incoming).toMatchObject([{ id: '7', answering: false }])
    expect(phone.notice?.text).toMatch(/microphone is blocked/)
    expect(phone.isBusy).toBe(false)
  })
})
