import { describe, expect, it } from 'vitest'
import { FakeContext } from '../../testing/fake-context.ts'
import { root, runXml } from '../../testing/run-xml.ts'

const verbsOf = async (body: string) => (await runXml(body)).call.verbs

describe('Hangup', () => {
  it('answers before it hangs up, and runs no further verb', async () => {
    expect(await verbsOf('<Hangup/><Say>never</Say>')).toEqual([['answer'], ['hangup', 'hangup']])
  })
})

describe('Reject', () => {
  it('rejects the call without an answer, for its reason', async () => {
    expect(await verbsOf('<Reject reason="busy"/>')).toEqual([['hangup', 'busy']])
    expect(await verbsOf('<Reject reason="rejected"/>')).toEqual([['hangup', 'decline']])
    expect(await verbsOf('<Reject/>')).toEqual([['hangup', 'decline']])
  })

  it('only hangs up an answered call', async () => {
    expect((await verbsOf('<Say>a</Say><Reject reason="busy"/>')).at(-1)).toEqual(['hangup', 'hangup'])
  })
})

describe('Redirect', () => {
  it('continues with another document, by its method, relative to its own URL', async () => {
    const context = new FakeContext({ [`${root}/x/b`]: '<Response><Reject/></Response>' })
    const body = '<Redirect method="GET">b?x=1&amp;y=2</Redirect><Say>never</Say>'
    const { call } = await runXml(body, { context, at: '/x/a' })
    expect(call.verbs).toEqual([['hangup', 'decline']])
    expect(context.requests[1]).toMatchObject({ method: 'GET' })
    expect(context.fields(1)).toMatchObject({ x: '1', y: '2', CallSid: 'c-1' })
  })
})

describe('Leave', () => {
  it('has no effect on a caller outside of a queue, with a warning', async () => {
    const { call, context } = await runXml('<Leave/><Say>on</Say>')
    expect(call.names).toEqual(['play'])
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Leave[1]' }])
  })
})
