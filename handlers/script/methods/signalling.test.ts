import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import type { ReferResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

describe('answer', () => {
  it('answers once, with a maximum duration', async () => {
    const once = await scripts.run(['answer', { answer: { max_duration: 60 } }])
    expect(once.verbs).toEqual([['answer', {}]])
    expect((await scripts.run([{ answer: { max_duration: '60' } }])).verbs).toEqual([
      ['answer', { maxDurationMs: 60_000 }],
    ])
  })

  it('accepts the codecs that it names, or any if it names no known codec', async () => {
    expect((await scripts.run([{ answer: { codecs: 'G722, AMR-WB,pcma' } }])).verbs).toEqual([
      ['answer', { codecs: ['G722', 'PCMA'] }],
    ])
    const { verbs, warnings } = await scripts.run([{ answer: { codecs: 'G729' } }])
    expect(verbs).toEqual([['answer', {}]])
    expect(warnings).toEqual(['/sections/main/0/answer method_parameter_invalid_value'])
  })

  it('warns of parameters without an effect', async () => {
    const { warnings, names } = await scripts.run([{ answer: { username: 'a', password: 'b' } }])
    expect(names).toEqual(['answer'])
    expect(warnings).toEqual(
      ['username', 'password'].map((name) => `/sections/main/0/answer/${name} method_parameter_undefined`),
    )
  })
})

describe('hangup', () => {
  it('hangs up with a reason, and runs no further step', async () => {
    expect((await scripts.run([{ hangup: { reason: 'busy' } }, 'answer'])).verbs).toEqual([
      ['hangup', 'busy'],
    ])
    expect((await scripts.run([{ hangup: { reason: '%{call.none}' } }])).verbs).toEqual([
      ['hangup', 'hangup'],
    ])
    expect((await scripts.run(['hangup'])).verbs).toEqual([['hangup', 'hangup']])
    expect(faultsOf([{ hangup: { reason: 'tired' } }])).toEqual([
      '/0/hangup/reason method_parameter_invalid_value',
    ])
  })
})

describe('sleep', () => {
  it('waits for milliseconds, in the short or the long form', async () => {
    const steps = [{ sleep: 250 }, { sleep: { duration: '300' } }, { sleep: '%{vars.ms}' }]
    expect((await scripts.run([{ set: { ms: 5 } }, ...steps])).verbs).toEqual([
      ['sleep', 250],
      ['sleep', 300],
      ['sleep', 5],
    ])
  })

  it('waits without a limit until the call ends', async () => {
    const call = new FakeCall()
    const naps: number[] = []
    call.sleep = async (ms) => {
      naps.push(ms)
      if (naps.length === 3) call.end()
      call.signal.throwIfAborted()
    }
    await scripts.run([{ sleep: -1 }, 'answer'], { call })
    expect(naps).toEqual([86_400_000, 86_400_000, 86_400_000])
    expect(call.verbs).toEqual([])
  })
})

describe('send_digits', () => {
  it('sends digits', async () => {
    expect((await scripts.run([{ send_digits: { digits: '1W#' } }])).verbs).toEqual([['sendDigits', '1W#']])
    expect(await scripts.say('%{send_digits_result}', [{ send_digits: { digits: '1' } }])).toBe('success')
  })

  it('fails if a variable yields no digits', async () => {
    const steps = [{ set: { d: '1x' } }, { send_digits: { digits: '%{d}' } }]
    expect(await scripts.say('%{send_digits_result}', steps)).toBe('failed')
  })
})

describe('sip_refer', () => {
  const refer = (more: object = {}) => ({ sip_refer: { to_uri: 'sip:100@pbx.example', ...more } })

  it('sends REFER with credentials, and ends the call on success', async () => {
    const { verbs } = await scripts.run([refer({ username: 'u', password: 'p' }), 'answer'])
    expect(verbs).toEqual([['refer', { to: 'sip:100@pbx.example', username: 'u', password: 'p' }]])
  })

  it.each([
    [{ kind: 'busy', status: 202, notifyStatus: 486 }, 'sip:100@pbx.example busy busy 202 486'],
    [
      { kind: 'no-answer', status: 202, notifyStatus: 480 },
      'sip:100@pbx.example no_answer no_answer 202 480',
    ],
    [{ kind: 'failed', status: 408 }, 'sip:100@pbx.example failed failed 408 '],
  ] as const)('sets its variables: %j', async (result: ReferResult, text) => {
    const call = new FakeCall()
    call.referrals.push(result)
    const names = ['sip_refer_to', 'sip_refer_result', 'return_value', 'sip_refer_response_code']
    const said = [...names, 'sip_refer_to_response_code'].map((name) => `%{${name}}`).join(' ')
    expect(await scripts.say(`${said}.`, [refer()], { call })).toBe(`${text}.`)
  })

  it('sends the result to status_url', async () => {
    const status_url = 'https://app.example/events'
    const { context } = await scripts.run([refer({ status_url })])
    expect(eventsOf(context)).toEqual([
      {
        to: `POST ${status_url}`,
        event_type: 'calling.call.refer',
        state: 'success',
        sip_refer_to: 'sip:100@pbx.example',
        sip_refer_response_code: 202,
        sip_notify_response_code: 200,
      },
    ])
    const call = new FakeCall()
    call.failing.set('refer', new VerbFailed('refer_unsupported', 'no'))
    const failed = await scripts.run([refer({ status_url }), { sleep: 1 }], { call })
    expect(eventsOf(failed.context)).toMatchObject([{ state: 'failed' }])
    expect(failed.names).toEqual(['refer', 'sleep'])
    expect(failed.warnings).toEqual(['/sections/main/0/sip_refer refer_unsupported'])
  })

  it('requires a SIP URI, also from a variable', async () => {
    expect(faultsOf([refer({ to_uri: '+1555' })])).toEqual([
      '/0/sip_refer/to_uri method_parameter_invalid_value',
    ])
    expect((await scripts.run([refer({ to_uri: '%{call.from_number}' })])).warnings).toEqual([
      '/sections/main/0/sip_refer method_parameter_invalid_value',
    ])
  })
})

describe('user_event', () => {
  it('sends the event to the browser, with variables replaced', async () => {
    const event = { kind: 'queue', place: '%{vars.place}', list: ['%{call.from_number}'] }
    expect((await scripts.run([{ set: { place: 3 } }, { user_event: { event } }])).verbs).toEqual([
      ['sendUserEvent', { kind: 'queue', place: 3, list: ['+15550001'] }],
    ])
  })

  it('warns if the caller cannot receive events', async () => {
    const call = new FakeCall()
    call.sendUserEvent = () => false
    const { warnings } = await scripts.run([{ user_event: { event: {} } }], { call })
    expect(warnings).toEqual(['/sections/main/0/user_event method_execute_failed'])
  })
})
