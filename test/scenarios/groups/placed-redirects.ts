import { beforeAll, describe, expect, it } from 'vitest'
import { xmlText } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import type { DocumentServer } from '../../support/documents.ts'
import type { Gateway } from '../../support/gateway.ts'
import { authorization } from '../../support/recorded.ts'
import { until } from '../../support/until.ts'

/** Activity, its verb, the gauge that shows it, and the fields of its action. */
const situations = [
  ['plays', () => '<Say loop="0">Hello out there</Say>', 'verbs', []],
  ['pauses', () => '<Pause length="600"/>', 'verbs', []],
  ['collects', (url) => `<Gather action="${url}" timeout="60"><Pause length="60"/></Gather>`, 'verbs', []],
  ['records', (url) => `<Record action="${url}" timeout="60" playBeep="false"/>`, 'media_recordings', []],
  [
    'is in a conference',
    (url) => `<Dial action="${url}"><Conference>r</Conference></Dial>`,
    'conferences',
    [],
  ],
  ['waits in a queue', (url) => `<Enqueue action="${url}">q</Enqueue>`, 'queue_waiting', ['redirected']],
] as const satisfies readonly [string, (url: string) => string, string, readonly string[]][]

/**
 * Calls that get another document from the XML family's API during any activity. The new document ends all
 * activity of the old one. The servers exist once the tests run.
 */
export const placedRedirects = (servers: () => { gateway: Gateway; server: DocumentServer }): void => {
  describe('a redirection', () => {
    let gateway: Gateway
    let server: DocumentServer

    beforeAll(() => {
      ;({ gateway, server } = servers())
      server.put('/acted', xmlText('<Hangup/>'))
      server.answers('/never', () => {})
    })

    const post = async (path: string, fields: Readonly<Record<string, string>>) => {
      const answer = await fetch(`${gateway.url}/api/laml/2010-04-01/Accounts/default/Calls${path}.json`, {
        method: 'POST',
        headers: { authorization },
        body: new URLSearchParams(fields),
      })
      return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> }
    }

    const statusOf = async (sid: string): Promise<unknown> => {
      const url = `${gateway.url}/api/laml/2010-04-01/Accounts/default/Calls/${sid}`
      return ((await (await fetch(url, { headers: { authorization } })).json()) as { status?: unknown })
        .status
    }

    /** Places a call with its first document, which the callee answers. */
    const begin = async (url: string) => {
      const carrier = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
      const { body } = await post('', { To: carrier.uri, From: '+4930123', Url: url })
      const sid = String(body.sid)
      await carrier.talks('invited', 400)
      await until(
        'it rings',
        () => statusOf(sid),
        (status) => status === 'ringing',
      )
      await carrier.goesOn()
      await carrier.sipp.event('confirmed')
      return { carrier, sid }
    }

    const is = (gauge: string, value: number) =>
      until(
        `${gauge} ${value}`,
        () => gateway.metric(gauge),
        (found) => found === value,
      )

    const bye = { Twiml: xmlText('<Hangup/>') }

    it.each(situations)('a new document replaces one that %s', async (_what, verb, gauge, results) => {
      const { carrier, sid } = await begin(server.put('/first', xmlText(verb(server.urlOf('/acted')))))
      await is(gauge, 1)
      expect(await post(`/${sid}`, bye)).toMatchObject({ status: 200, body: { sid, status: 'in-progress' } })
      await carrier.done()
      await gateway.settled()
      const acted = () => server.asked('/acted').map(({ fields }) => fields.QueueResult)
      await until('the action', acted, ({ length }) => length >= results.length)
      expect(acted()).toEqual(results)
    })

    it('a new document replaces a Dial whose callee has answered, and the callee is hung up', async () => {
      const other = await Carrier.listens({ scenario: 'callee', holdMs: 'manual' })
      const dial = `<Dial action="${server.urlOf('/acted')}"><Sip>${other.uri}</Sip></Dial>`
      const { carrier, sid } = await begin(server.put('/first', xmlText(dial)))
      await other.talks('invited', 500)
      await other.goesOn()
      await is('bridges', 1)
      await post(`/${sid}`, bye)
      await Promise.all([carrier.done(), other.done()])
      await gateway.settled()
      expect(server.asked('/acted')).toEqual([])
    })

    it('a new document replaces a Dial whose callee rings, and the callee is cancelled', async () => {
      const other = await Carrier.listens({ scenario: 'callee-cancelled', holdMs: 'manual' })
      const dial = `<Dial action="${server.urlOf('/acted')}"><Sip>${other.uri}</Sip></Dial>`
      const { carrier, sid } = await begin(server.put('/first', xmlText(dial)))
      await other.sipp.event('invited')
      await post(`/${sid}`, bye)
      await Promise.all([carrier.done(), other.done()])
      await gateway.settled()
      expect(server.asked('/acted')).toEqual([])
    })

    it('a new document replaces one that has not arrived yet', async () => {
      const { carrier, sid } = await begin(server.urlOf('/never'))
      await until(
        'the document is requested',
        () => server.asked('/never'),
        ({ length }) => length === 1,
      )
      await post(`/${sid}`, bye)
      await carrier.done()
      await gateway.settled()
    })

    it('one of two simultaneous new documents is accepted, and none after the end of the call', async () => {
      const { carrier, sid } = await begin(server.put('/first', xmlText('<Pause length="600"/>')))
      await is('verbs', 1)
      const urls = ['/one', '/two'].map((path) => server.put(path, xmlText('<Hangup/>')))
      const answers = await Promise.all(urls.map((Url) => post(`/${sid}`, { Url })))
      expect(answers.some(({ status }) => status === 200)).toBe(true)
      await carrier.done()
      await gateway.settled()
      expect(await post(`/${sid}`, bye)).toMatchObject({ body: { code: 21220 } })
    })
  })
}
