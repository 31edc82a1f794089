import { ClientError } from '@trunkline/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FakeCall, FakeInvite, phoneRig as setUp } from './testing/fakes.ts'
import { de } from './texts/de.ts'
import { en } from './texts/en.ts'
import { applyLanguage } from './texts/language.ts'

const turn = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

describe('an outgoing call', () => {
  it('is shown until it ends, with the time of its answer, and stored', async () => {
    const { phone, calls, recents, at } = await setUp()
    await phone.dial('/public/bob')
    expect(phone.current).toMatchObject({ name: '/public/bob', answeredAt: undefined })
    at(5000)
    calls[0]!.become('active')
    expect(phone.current?.answeredAt).toBe(5000)
    at(9000)
    calls[0]!.become('held')
    expect(phone.current?.answeredAt).toBe(5000)
    phone.controls.hangup()
    expect(phone.current).toBeUndefined()
    expect(phone.notice).toEqual({ tone: 'plain', text: 'Call ended.' })
    expect(recents.list).toEqual([
      {
        to: '/public/bob',
        name: '/public/bob',
        direction: 'outbound',
        at: 1000,
        result: 'answered',
        durationMs: 4000,
      },
    ])
  })

  it('that fails shows the reason', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.end(new ClientError('busy', 'USER_BUSY'))
    const again = { name: '/public/bob', number: '/public/bob' }
    expect(phone.notice).toEqual({ tone: 'warning', text: 'The line is busy. Try again later.', again })
  })

  it('that a room ends says why, without an offer to call again', async () => {
    const { phone, calls } = await setUp()
    const ends = [
      ['room_removed', 'You were removed from the room.'],
      ['room_ended', 'The room was closed.'],
      ['room_expired', 'Your time in the room is over.'],
    ] as const
    for (const [index, [code, text]] of ends.entries()) {
      await phone.dial('/public/lounge')
      calls[index]!.become('active')
      calls[index]!.end(new ClientError(code, ''))
      await vi.dynamicImportSettled()
      expect(phone.notice).toEqual({ tone: 'plain', text })
    }
  })

  it('says once that a room has made the user leave', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/lounge')
    calls[0]!.become('active')
    phone.warn(() => 'The room was closed.', 'plain')
    const { notice } = phone
    calls[0]!.end(new ClientError('room_ended', ''))
    await vi.dynamicImportSettled()
    expect(phone.notice).toBe(notice)
  })

  it('that meets a closing room offers to call again', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/lounge')
    calls[0]!.end(new ClientError('room_ended', ''))
    await vi.dynamicImportSettled()
    const again = { name: '/public/lounge', number: '/public/lounge' }
    expect(phone.notice).toMatchObject({ tone: 'warning', text: en.endNotCompleted, again })
  })

  it('whose end is shown says it in the language that is chosen then', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.end(new ClientError('busy', 'USER_BUSY'))
    const { notice } = phone
    onTestFinished(() => applyLanguage('en', []))
    await applyLanguage('de', [])
    expect(phone.notice).toBe(notice)
    expect(phone.notice?.text).toBe(de.endBusy)
  })

  it('whose media path never came up says what to do', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    calls[0]!.hasMedia = false
    calls[0]!.end(new ClientError('media_lost', ''))
    expect(phone.notice?.text).toBe(
      'No audio connection was possible. Try another network, or ask your administrator.',
    )
    await phone.dial('/public/bob')
    calls[1]!.become('active')
    calls[1]!.end(new ClientError('media_lost', ''))
    expect(phone.notice?.text).toBe('Call failed: the audio was lost.')
  })

  it('to an invalid address is reported as such, not as a failure of the connection', async () => {
    const { phone } = await setUp()
    await phone.dial(' ')
    expect(phone.notice).toEqual({
      tone: 'warning',
      text: 'This address cannot be called. Check it, then try again.',
    })
    expect(phone.isBusy).toBe(false)
  })

  it('is placed once, however fast the button is pressed', async () => {
    const { phone, calls } = await setUp()
    await Promise.all([phone.dial('/public/bob'), phone.dial('/public/bob')])
    expect(calls).toHaveLength(1)
  })

  it('puts the former call on hold, which can be resumed', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    await phone.dial('/public/carol')
    calls[1]!.become('active')
    expect(phone.lines.map(({ name, call }) => [name, call.state])).toEqual([
      ['/public/carol', 'active'],
      ['/public/bob', 'held'],
    ])
    await phone.controls.swap(phone.lines[1]!)
    expect(phone.lines.map(({ name, call }) => [name, call.state])).toEqual([
      ['/public/bob', 'active'],
      ['/public/carol', 'held'],
    ])
    phone.controls.hangup()
    expect(phone.current).toMatchObject({ name: '/public/carol', call: { state: 'held' } })
  })

  it('uses the camera and the chosen devices', async () => {
    const { phone, dialled, devices } = await setUp()
    devices.choose('microphone', 'm1')
    await phone.dial('/public/bob', { video: true, name: 'Bob' })
    expect(dialled).toEqual([{ to: '/public/bob', audio: { deviceId: 'm1' }, video: true }])
    expect(phone.current).toMatchObject({ name: 'Bob', number: '/public/bob' })
  })

  it('shows the keys of both sides, and sends none before the audio is open', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    await phone.controls.press('1')
    calls[0]!.become('early')
    await phone.controls.press('2')
    calls[0]!.tell('dtmf', { digits: '9' })
    expect(calls[0]!.digits).toEqual(['2'])
    expect(phone.current).toMatchObject({ pressed: '2', received: '9' })
  })

  it('reports a hold that the server rejects', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    calls[0]!.failing = new ClientError('server', 'no')
    await phone.controls.toggleHold()
    expect(phone.notice?.tone).toBe('warning')
  })
})

describe('an incoming call', () => {
  it('is shown and answered', async () => {
    const { phone, ring, recents } = await setUp()
    ring(new FakeInvite('7', 'Bob'))
    expect(phone.incoming).toMatchObject([{ id: '7', name: 'Bob', number: '+17' }])
    await phone.accept('7')
    expect(phone.incoming).toEqual([])
    expect(phone.current).toMatchObject({ name: 'Bob', answeredAt: 1000 })
    expect(recents.list[0]?.direction).toBe('inbound')
  })

  it('puts the current call on hold', async () => {
    const { phone, ring, calls } = await setUp()
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    ring(new FakeInvite('7', 'Carol'))
    await phone.accept('7')
    expect(calls[0]!.state).toBe('held')
    expect(phone.lines.map(({ name }) => name)).toEqual(['Carol', '/public/bob'])
  })

  it('shows whether the caller offers video', async () => {
    const { phone, ring } = await setUp()
    ring(new FakeInvite('7', 'Bob', 'v=0\r\nm=audio 9 UDP 0\r\nm=video 9 UDP 96\r\n'))
    ring(new FakeInvite('8', 'Bob', 'v=0\r\nm=audio 9 UDP 0\r\nm=video 0 UDP 96\r\n'))
    expect(phone.incoming.map(({ video }) => video)).toEqual([true, false])
  })

  it('that is declined informs the server, and is stored', async () => {
    const { phone, ring, recents } = await setUp()
    const invite = new FakeInvite('7', '')
    ring(invite)
    phone.reject('7')
    expect(invite.rejected).toBe(true)
    expect(phone.incoming).toEqual([])
    expect(recents.list[0]).toMatchObject({ direction: 'missed', name: '+17' })
  })

  it('that the caller cancels is a missed call; one answered elsewhere is not', async () => {
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

  it('rings on when the microphone is refused', async () => {
    const { phone, ring } = await setUp()
    const invite = new FakeInvite('7', 'Bob')
    invite.accept = () => Promise.reject(new ClientError('microphone_refused', ''))
    ring(invite)
    await phone.accept('7')
    expect(phone.incoming).toMatchObject([{ id: '7', answering: false }])
    expect(phone.notice?.text).toMatch(/microphone is blocked/)
    expect(phone.isBusy).toBe(false)
  })

  it('can be declined while it is accepted', async () => {
    const { phone, ring, recents } = await setUp()
    const invite = new FakeInvite('7', 'Bob')
    const answering = Promise.withResolvers<FakeCall>()
    invite.accept = () => {
      invite.isPending = false
      return answering.promise
    }
    ring(invite)
    const accepting = phone.accept('7')
    phone.reject('7')
    answering.reject(new ClientError('declined', ''))
    await accepting
    expect([invite.rejected, phone.incoming, phone.isBusy]).toEqual([true, [], false])
    expect(phone.notice?.text).toBe('Declined the call from Bob.')
    expect(recents.list.map(({ direction }) => direction)).toEqual(['missed'])
  })
})

describe('a call whose end the gateway does not report', () => {
  it('stops ringing here, and counts as missed', async () => {
    const { phone, ring, timers, recents } = await setUp()
    ring(new FakeInvite('7', 'Bob'))
    for (const run of [...timers]) run()
    expect(phone.incoming).toEqual([])
    expect(phone.notice?.text).toBe('Missed call from Bob.')
    expect(recents.missed).toBe(1)
  })

  it('is given up by the caller, but not after its answer', async () => {
    const { phone, calls, timers } = await setUp()
    await phone.dial('/public/bob')
    for (const run of [...timers]) run()
    expect(calls[0]!.state).toBe('ended')
    await phone.dial('/public/bob')
    calls[1]!.become('active')
    for (const run of [...timers]) run()
    expect(calls[1]!.state).toBe('active')
  })
})

describe('a call of a push notification', () => {
  const push = { type: 'call_invite', incoming_caller_name: 'Bob', decrypted: {} }

  it.each([true, false])('rings, and is answered if the user chose that: %s', async (answer) => {
    const rig = await setUp()
    rig.pushed = () => {
      rig.ring(new FakeInvite('7', 'Bob'))
      return new FakeCall('7')
    }
    await rig.phone.pushed(push, answer)
    expect(rig.phone.current?.name).toBe(answer ? 'Bob' : undefined)
    expect(rig.phone.incoming).toHaveLength(answer ? 0 : 1)
  })

  it('that has ended is reported as missed', async () => {
    const rig = await setUp()
    await rig.phone.pushed(push, true)
    expect(rig.phone.notice?.text).toBe('Missed call from Bob.')
  })
})

describe('a reloaded page', () => {
  it('recovers its call with name and time', async () => {
    const before = await setUp()
    await before.phone.dial('/public/bob', { name: 'Bob' })
    before.at(5000)
    before.calls[0]!.become('active')
    const kept = before.memory.call
    expect(kept).toMatchObject({ name: 'Bob', answeredAt: 5000 })
    const after = await setUp()
    after.memory.keep(kept)
    after.kept = new FakeCall(kept?.id)
    await after.phone.reattach()
    expect(after.phone.current).toMatchObject({ name: 'Bob', number: '/public/bob', answeredAt: 5000 })
  })

  it('returns to a room without the camera, and with its picture', async () => {
    const before = await setUp()
    await before.phone.dial('/public/lounge?channel=video', { name: 'Lounge', watches: true })
    expect(before.dialled).toEqual([
      { to: '/public/lounge?channel=video', audio: true, video: false, negotiateVideo: true },
    ])
    Object.assign(before.calls[0]!, { room: { name: 'Lounge' } })
    before.calls[0]!.become('active')
    expect(before.memory.call).toMatchObject({ video: false, watches: true })
    const after = await setUp()
    after.memory.keep(before.memory.call)
    after.kept = new FakeCall()
    await after.phone.reattach()
    expect(after.reattached).toEqual([{ audio: true, video: false, negotiateVideo: true }])
  })

  it('forgets ended calls', async () => {
    const { phone, memory, calls } = await setUp()
    memory.keep({ id: 'x', name: 'Bob', number: 'b', answeredAt: 1, video: false })
    await phone.reattach()
    expect([phone.current, memory.call]).toEqual([undefined, undefined])
    await phone.dial('/public/bob')
    calls[0]!.become('active')
    expect(memory.call).toBeDefined()
    calls[0]!.end(new ClientError('normal', ''))
    expect(memory.call).toBeUndefined()
  })

  it('hangs up calls that it cannot recover', async () => {
    const { phone, calls } = await setUp()
    await phone.dial('/public/bob')
    expect(phone.leave()).toBe(false)
    expect(calls[0]!.state).toBe('ended')
    await phone.dial('/public/bob')
    calls[1]!.become('active')
    expect(phone.leave()).toBe(true)
    expect(calls[1]!.state).toBe('active')
  })
})
