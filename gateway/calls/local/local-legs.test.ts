import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentTranscriptEvent, CallControl } from '../../../handlers/verbs.ts'
import { setUp, turns, waits } from '../testing/addresses-fixture.ts'

let { t, log, at, results, states, connect, arrive, left } = setUp()

beforeEach(() => {
  ;({ t, log, at, results, states, connect, arrive, left } = setUp())
})

describe('a call that is connected to an address', () => {
  it('runs the handler on a call of its own, and is answered with it', async () => {
    const menu: CallControl[] = []
    at['/public/menu'] = async (call) => {
      menu.push(call)
      await call.sleep(1_000)
      await waits(call)
    }
    const a = await arrive((call) => connect(call, '/public/menu'))
    expect(menu[0]?.info).toMatchObject({
      direction: 'inbound',
      type: 'sip',
      from: 'sip:caller@carrier.example',
      to: '/public/menu',
      toUser: 'menu',
    })
    expect(a.far.requests).toEqual([])
    t.clock.advance(1_000)
    await turns()
    expect(a.far.requests).toEqual(['answer'])
    expect(states).toEqual(['initiated', 'answered'])
    expect(t.bridges.count).toBe(1)
    expect(t.calls.count).toBe(2)
    a.leg.ended({ code: 'normal' })
    await turns()
    expect(menu[0]?.signal.aborted).toBe(true)
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('goes on with its document when the handler hangs up', async () => {
    at['/public/menu'] = async (call) => {
      await call.answer()
      await call.sleep(5_000)
    }
    const a = await arrive(async (call) => {
      await connect(call, '/public/menu')
      await waits(call)
    })
    t.clock.advance(5_000)
    await turns()
    expect(results).toMatchObject([{ kind: 'connected', endedBy: 'callee', durationMs: 5_000 }])
    expect(a.leg.isAnswered).toBe(true)
    a.leg.ended({ code: 'normal' })
    await turns()
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('receives the ringing, and the handler’s audio before the answer', async () => {
    at['/public/menu'] = async (call) => {
      await call.ring()
      await call.sleep(1_000)
      await connect(call, '/public/announcement')
    }
    at['/public/announcement'] = async (call) => {
      await call.connect({ steps: [[{ to: 'sip:b@far.example' }]], answerOnBridge: true })
    }
    const a = await arrive((call) => connect(call, '/public/menu'))
    expect(a.far.requests).toEqual(['ring'])
    t.clock.advance(1_000)
    await turns()
    t.outbound.dialled[0]?.leg.early(true)
    await turns()
    expect(a.far.requests).toEqual(['ring', 'progress'])
    expect(t.bridges.count).toBe(3)
    a.leg.ended({ code: 'canceled' })
    await turns()
    expect(t.outbound.dialled[0]?.far.requests).toEqual(['end canceled'])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('receives no ringing tone as early media while a callee of the handler rings', async () => {
    at['/public/menu'] = (call) => connect(call, 'sip:b@far.example')
    const a = await arrive((call) => connect(call, '/public/menu'))
    t.outbound.dialled[0]?.leg.early(false)
    await turns()
    expect(a.far.requests).toEqual(['ring'])
    expect(t.ports).toEqual([])
    t.outbound.dialled[0]?.leg.ended({ code: 'declined' })
    await turns()
    expect(a.far.requests).toEqual(['ring', 'end declined'])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('ends with a failure of the gateway if its audio is lost', async () => {
    at['/public/menu'] = waits
    const a = await arrive((call) => connect(call, '/public/menu'))
    const [, far] = t.ports
    t.calls.portsLost([far?.id ?? ''])
    await turns()
    expect(a.far.requests).toEqual(['answer', 'end internal'])
    expect([...log.ends.values()].map(({ code }) => code)).toEqual(['internal', 'internal', 'internal'])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('fails at once after a fault of the gateway', async () => {
    const { arrive: arriving } = t.calls
    t.calls.arrive = (arrival) => {
      if (arrival.leg.kind === 'local') throw new Error('a fault')
      arriving.call(t.calls, arrival)
    }
    await arrive((call) => connect(call, '/public/menu'))
    expect(results).toMatchObject([{ kind: 'failed', code: 'internal' }])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it.each([
    ['busy', 'busy', 486, 'busy'],
    ['decline', 'declined', 603, 'declined'],
    ['no-answer', 'no-answer', 480, 'no_answer'],
    ['hangup', 'no-answer', 480, 'no_answer'],
    ['error', 'error', 500, 'handler_failed'],
  ] as const)('fails if the handler rejects it: %s', async (reason, expected, sipStatus, code) => {
    at['/public/menu'] = (call) => call.hangup(reason)
    const a = await arrive((call) => connect(call, '/public/menu'))
    expect(results).toMatchObject([{ kind: 'failed', reason: expected, sipStatus, code }])
    expect(a.far.requests).toEqual([`end ${code}`])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('is canceled after its ring time', async () => {
    at['/public/menu'] = (call) => call.sleep(1_000_000)
    await arrive((call) => connect(call, '/public/menu', { timeoutMs: 20_000 }))
    t.clock.advance(20_000)
    await turns()
    expect(results).toMatchObject([{ kind: 'failed', reason: 'no-answer' }])
    expect(states).toEqual(['initiated', 'ended no-answer no_answer'])
    const ends = [...log.rows.keys()].map((id) => log.ends.get(id))
    expect(ends.map((end) => [end?.status, end?.code])).toEqual([
      ['no-answer', 'no_answer'],
      ['no-answer', 'no_answer'],
      ['canceled', 'canceled'],
    ])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('rings beside others: the first answer ends the rest', async () => {
    at['/public/menu'] = (call) => call.sleep(1_000_000)
    const a = await arrive((call) => connect(call, ['/public/menu', 'sip:b@far.example']))
    t.outbound.dialled[0]?.leg.answered()
    await turns()
    expect(t.calls.count).toBe(1)
    expect([...log.ends.values()].map(({ code }) => code)).toEqual([
      'answered_elsewhere',
      'answered_elsewhere',
    ])
    a.leg.ended({ code: 'normal' })
    await turns()
    at['/public/menu'] = waits
    await arrive((call) => connect(call, ['/public/menu', 'sip:b@far.example']))
    expect(t.outbound.dialled[1]?.far.requests).toEqual(['end answered_elsewhere'])
  })

  it('passes digits on in both directions, with pauses', async () => {
    const pressed: string[] = []
    at['/public/menu'] = async (call) => {
      await call.answer()
      call.onDigit((digit) => pressed.push(digit))
      await call.sleep(1_000)
      await call.sendDigits('7w8')
      await call.sleep(1_000_000)
    }
    const a = await arrive((call) => connect(call, '/public/menu'))
    a.leg.digit('1')
    a.leg.digit('#')
    await turns()
    expect(pressed).toEqual(['1', '#'])
    t.clock.advance(1_000)
    await turns()
    expect(a.far.requests).toEqual(['answer', 'digits 7'])
    t.clock.advance(500)
    await turns()
    expect(a.far.requests).toEqual(['answer', 'digits 7', 'digits 8'])
  })

  it('passes on X- headers, Diversion and the caller, with one hop less', async () => {
    const seen: unknown[] = []
    at['/public/menu'] = async (call) => void seen.push(call.info)
    const headers = [
      { name: 'X-Order', value: '7' },
      { name: 'P-Asserted-Identity', value: '<sip:boss@example.com>' },
    ]
    await arrive(async (call) => {
      await call.connect({
        steps: [[{ to: '/public/menu', headers, from: 'sip:shop@example.com', fromName: 'Shop' }]],
      })
    })
    expect(seen).toMatchObject([
      { headers: [headers[0]], from: 'sip:shop@example.com', fromName: 'Shop', projectId: 'p' },
    ])
  })

  it('passes on the transcripts of agents until its end, whatever their receiver throws', async () => {
    const menu: CallControl[] = []
    at['/public/menu'] = async (call) => {
      menu.push(call)
      await waits(call)
    }
    const seen: unknown[] = []
    const onTranscript = (event: AgentTranscriptEvent) => {
      seen.push(event)
      throw new Error('a fault')
    }
    const a = await arrive(async (call) => {
      await call.connect({ steps: [[{ to: '/public/menu', onTranscript }]] })
    })
    const event = { type: 'completion', params: { text: 'Hello.' } } as const
    menu[0]?.reportTranscript(event)
    expect(seen).toEqual([event])
    a.leg.ended({ code: 'normal' })
    await turns()
    menu[0]?.reportTranscript(event)
    expect(seen).toHaveLength(1)
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('passes on the variables of the destination, and the origin of the chain', async () => {
    const seen: unknown[] = []
    const userVariables = { order: '7' }
    at['/public/menu'] = async (call) => {
      seen.push(call.info.userVariables)
      await connect(call, '/public/desk')
    }
    at['/public/desk'] = (call) => connect(call, 'sip:b@far.example')
    const first: string[] = []
    await arrive(async (call) => {
      first.push(call.info.callId)
      await call.connect({ steps: [[{ to: '/public/menu', userVariables }]] })
    })
    expect(seen).toEqual([userVariables])
    // Calls to carriers count towards the limits of the first call's caller.
    expect(t.outbound.dialled[0]?.request).toMatchObject({ originId: first[0] })
    expect(t.outbound.dialled[0]?.request.callId).not.toBe(first[0])
  })

  it('runs a confirmation as any callee does', async () => {
    at['/public/menu'] = waits
    let asked: CallControl | undefined
    const confirm = async (callee: CallControl) => {
      asked = callee
      await callee.sleep(1_000)
    }
    const a = await arrive(async (call) => {
      await call.connect({ steps: [[{ to: '/public/menu', confirm }]] })
    })
    expect(asked?.info).toMatchObject({ direction: 'outbound', to: '/public/menu' })
    expect(t.bridges.count).toBe(0)
    t.clock.advance(1_000)
    await turns()
    expect(t.bridges.count).toBe(1)
    a.leg.ended({ code: 'normal' })
    await turns()
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('is transferred if the handler requests it', async () => {
    const referred: unknown[] = []
    at['/public/menu'] = async (call) => {
      await call.answer()
      referred.push(await call.refer({ to: 'sip:c@far.example' }))
    }
    const a = await arrive((call) => connect(call, '/public/menu'))
    expect(t.outbound.dialled).toHaveLength(1)
    t.outbound.dialled[0]?.leg.answered()
    await turns()
    expect(referred).toEqual([{ kind: 'completed', status: 200 }])
    expect(t.calls.count).toBe(1)
    expect(t.bridges.count).toBe(1)
    a.leg.ended({ code: 'normal' })
    await turns()
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('stays with the handler if the transfer fails', async () => {
    const referred: unknown[] = []
    at['/public/menu'] = async (call) => {
      await call.answer()
      referred.push(await call.refer({ to: 'sip:c@far.example' }))
      await call.sleep(1_000_000)
    }
    await arrive((call) => connect(call, '/public/menu'))
    t.outbound.dialled[0]?.leg.ended({ code: 'busy' })
    await turns()
    expect(referred).toEqual([{ kind: 'failed', status: 486 }])
    expect(t.calls.count).toBe(2)
    expect(t.bridges.count).toBe(1)
  })

  it('ends with the cause for its handler if no port is free', async () => {
    at['/public/menu'] = waits
    t.refusePorts(Object.assign(new Error('none is free'), { code: 'no_ports' }))
    await arrive((call) => connect(call, '/public/menu'))
    expect(results).toMatchObject([{ kind: 'failed', code: 'no_ports' }])
    expect(left()).toEqual([0, 0, 0, 0, 0])
  })

  it('has a CDR as any callee has, and its handler a call with that leg as parent', async () => {
    at['/public/menu'] = waits
    const a = await arrive((call) => connect(call, '/public/menu'))
    a.leg.ended({ code: 'normal' })
    await turns()
    const rows = [...log.rows.values()]
    const [first, leg, handled] = rows
    expect(rows).toMatchObject([
      { direction: 'inbound' },
      { direction: 'outbound-dial', parentId: first?.id, to: '/public/menu', type: 'sip' },
      { direction: 'inbound', parentId: leg?.id, to: '/public/menu', from: 'sip:caller@carrier.example' },
    ])
    expect([...log.ends.values()].map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ])
    const byId = new Map(t.records.map((record) => [record.call, record]))
    expect(byId.size).toBe(2)
    expect(byId.get(first?.id ?? '')?.legs).toMatchObject([
      { role: 'caller', kind: 'sip' },
      { role: 'callee', kind: 'local', type: 'sip', to: '/public/menu' },
    ])
    expect(byId.get(handled?.id ?? '')?.legs).toMatchObject([{ role: 'caller', kind: 'local' }])
  })
})

it('the gateway calls an address by itself, and both documents run', async () => {
  const menu: CallControl[] = []
  at['/public/menu'] = async (call) => {
    menu.push(call)
    await waits(call)
  }
  t.script((call) => (at[call.info.to] ?? (async () => {}))(call))
  const ran: CallControl[] = []
  const made = t.calls.originate({
    projectId: 'p',
    steps: [[{ to: '/public/menu', from: '+4930123' }]],
    run: async (call) => {
      ran.push(call)
      await call.sleep(1_000)
    },
  })
  await turns()
  const id = await made
  expect(menu[0]?.info).toMatchObject({ direction: 'inbound', from: '+4930123', to: '/public/menu' })
  expect(ran[0]?.info).toMatchObject({ callId: id, direction: 'outbound', to: '/public/menu' })
  expect([...log.rows.values()]).toMatchObject([
    { id, direction: 'outbound-api' },
    { direction: 'inbound', parentId: id },
  ])
  t.clock.advance(1_000)
  await turns()
  expect(menu[0]?.signal.aborted).toBe(true)
  expect(left()).toEqual([0, 0, 0, 0, 0])
})

it('a caller on hold hears music, and so does the handler; both go on afterwards', async () => {
  at['/public/menu'] = waits
  let caller: CallControl | undefined
  const a = await arrive((call) => {
    caller = call
    return connect(call, '/public/menu')
  })
  expect(t.bridges.count).toBe(1)
  await caller?.hold()
  await turns()
  expect(t.bridges.count).toBe(0)
  // The port of the leg to the address plays to the handler's call.
  expect(t.ports[0]?.playing).toBeDefined()
  await caller?.unhold()
  await turns()
  expect([t.bridges.count, t.ports[0]?.playing]).toEqual([1, undefined])
  a.leg.ended({ code: 'normal' })
  await turns()
  expect(left()).toEqual([0, 0, 0, 0, 0])
})

it('the handler records its caller until the end of the call', async () => {
  const reasons: string[] = []
  at['/public/menu'] = async (call) => {
    await call.answer()
    const recording = await call.startRecording({})
    void recording.ended.then(({ reason }) => reasons.push(reason))
    await call.sleep(1_000_000)
  }
  const a = await arrive((call) => connect(call, '/public/menu'))
  expect(t.ports.map(({ recordings }) => recordings.length)).toEqual([0, 1])
  a.leg.ended({ code: 'normal' })
  await turns()
  expect(reasons).toEqual(['hangup'])
  expect(left()).toEqual([0, 0, 0, 0, 0])
})
