import { describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { ReferResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const action = `action="${root}/next"`
const sip = '<Sip>sip:a@b.example</Sip>'

const run = (body: string, laid?: ReferResult) => {
  const call = new FakeCall()
  if (laid) call.referrals.push(laid)
  return runXml(body, { call })
}

describe('Refer', () => {
  it('refers the caller to another SIP URI, with credentials', async () => {
    const { call } = await run(
      '<Refer><Sip username="u" password="p">sip:a@b.example;transport=tls</Sip></Refer>',
    )
    const wanted = { to: 'sip:a@b.example;transport=tls', username: 'u', password: 'p' }
    expect(call.verbs).toEqual([['answer'], ['refer', wanted]])
  })

  it('reports to its action that the call continues elsewhere', async () => {
    const { context } = await run(`<Refer ${action} method="GET">${sip}</Refer>`)
    expect(context.callbacks).toMatchObject([{ kind: 'action', method: 'GET' }])
    expect(Object.entries(fieldsOf(context.callbacks[0])).slice(-3)).toEqual([
      ['ReferCallStatus', 'in-progress'],
      ['ReferSipResponseCode', '202'],
      ['NotifySipResponseCode', '200'],
    ])
  })

  it.each(['busy', 'no-answer', 'canceled', 'failed'] as const)(
    'requests its action after %s',
    async (kind) => {
      const { call, context } = await run(`<Refer ${action}>${sip}</Refer>`, { kind, status: 603 })
      expect(context.fields(0)).toMatchObject({ ReferCallStatus: kind, ReferSipResponseCode: '603' })
      expect(call.names).toEqual(['answer', 'refer', 'hangup'])
    },
  )

  it('continues with the next verb without an action', async () => {
    const { call } = await run(`<Refer>${sip}</Refer><Say>Still here?</Say>`, { kind: 'busy', status: 486 })
    expect(call.names).toEqual(['answer', 'refer', 'play'])
  })

  it('fails if the caller cannot be referred', async () => {
    const call = new FakeCall()
    call.failing.set('refer', new VerbFailed('refer_unsupported', 'no'))
    const { context } = await runXml(`<Refer ${action}>${sip}</Refer>`, { call })
    expect(context.fields(0)).toMatchObject({ ReferCallStatus: 'failed' })
    expect(context.warnings).toMatchObject([{ code: 'refer_unsupported' }])
  })

  it.each(['', '<Sip>b.example</Sip>'])('has no effect with %j, with warning 32110', async (noun) => {
    const { call, context } = await run(`<Refer>${noun}</Refer><Say>on</Say>`)
    expect(call.names).toEqual(['play'])
    expect(context.warnings).toMatchObject([{ code: '32110', path: '/Response/Refer[1]' }])
  })
})
