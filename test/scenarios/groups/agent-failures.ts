import { describe, expect, it } from 'vitest'
import { textsOf } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { until } from '../../support/until.ts'

const params = { wait_for_user: true, transparent_barge: false }

/** Step of a script with a tone that tells its begin. */
const plays = { play: { url: 'say:The script goes on.' } }

/** Failures of engines and of a customer's server during calls. */
export const agentFailures = (lane: () => AgentLane): void => {
  describe('failures around an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it('another engine goes on with the history after a failure in mid-answer', inOrder, async () => {
      const say = { text: 'The museum is open from nine to five on all days but Monday.', cut: 1000 }
      await lane().begin(
        { when: { engine: 'realtime', contains: ['museum'] }, do: [{ say }, { close: 'abrupt' }] },
        { when: { on: 'connect', engine: 'realtime' }, do: [], times: 1 },
        { when: { on: 'connect', engine: 'realtime' }, do: [{ error: 'limited' }] },
        { when: { engine: 'chat', contains: ['ticket'] }, do: [{ say: 'A ticket is five euros.' }] },
      )
      const call = await lane().dial({ engine: 'chain', params })
      await call.isHeard('realtime')
      await call.says('When is the museum open?')
      await lane().isAsked('When is the museum open?')
      await call.hears('the answer of the other engine')
      await call.says('And a ticket?')
      await call.hears('the next answer')
      expect(textsOf(lane().asked.at(-1)!.messages, 'user')).toEqual([
        'When is the museum open?',
        'And a ticket?',
      ])
      await call.hangUp()
      expect(textsOf((await call.report()).call_log, 'assistant')).toContain('A ticket is five euros.')
    })

    it('another engine begins if the first one refuses the key', inOrder, async () => {
      await lane().begin({ when: { on: 'connect', engine: 'realtime' }, do: [{ error: 'unauthorised' }] })
      const call = await lane().dial({ engine: 'chain', params: { static_greeting: 'Hello there.' } })
      await call.hears('the greeting')
      await call.hangUp()
      const [said] = (await call.report()).call_log.filter(({ role }) => role !== 'system')
      expect(said).toMatchObject({ role: 'assistant-manual', content: 'Hello there.' })
      expect(
        lane().standIns.log.entries.filter(({ engine, what }) => engine === 'realtime' && what === 'opened'),
      ).toHaveLength(1)
    })

    it('without any engine left, the agent apologizes and the script goes on', inOrder, async () => {
      await lane().begin(
        { when: { on: 'connect', engine: 'realtime' }, do: [], times: 1 },
        { when: { on: 'connect', engine: 'realtime' }, do: [{ error: 'limited' }] },
        {
          when: { engine: 'realtime' },
          do: [{ say: { text: 'One two three four five.', cut: 500 } }, { close: true }],
        },
      )
      const result = lane().server.put('/result', '{}')
      const call = await lane().dial({
        engine: 'single',
        params,
        after: [
          { request: { url: result, method: 'POST', body: { result: '%{ai_result}' } } },
          plays,
          'hangup',
        ],
      })
      await call.isHeard('realtime')
      const began = performance.now()
      await call.says('Hello?')
      await until(
        'the script goes on',
        () => lane().server.asked('/result').length,
        (count) => count === 1,
        15_000,
      )
      expect(performance.now() - began).toBeLessThan(30_000)
      expect(JSON.parse(lane().server.asked('/result')[0]!.body)).toEqual({ result: 'failed' })
      call.mark()
      await call.speaks('the next step')
      await call.isOver()
    })

    it('a function that hangs, fails or answers nonsense gives the model a text', inOrder, async () => {
      const { server } = lane()
      const web = {
        hanging: server.answers('/hanging', () => {}),
        failing: server.answers('/failing', (response) => void response.writeHead(500).end('no')),
        nonsense: server.put('/nonsense', 'this is no {json'),
      }
      const functions = Object.entries(web).map(([name, web_hook_url]) => ({
        function: name,
        description: name,
        parameters: { type: 'object', properties: {} },
        web_hook_url,
      }))
      await lane().begin(
        { when: { contains: ['try'] }, do: Object.keys(web).map((name) => ({ call: name })) },
        { when: { on: 'result' }, do: [{ say: 'All of them failed.' }] },
      )
      const call = await lane().dial({ params, ai: { SWAIG: { functions } } })
      await call.isHeard()
      await call.says('Please try it.')
      await call.hears('the answer to the results')
      const { messages } = lane().asked.at(-1)!
      const results = textsOf(messages, 'tool')
      expect(results).toHaveLength(3)
      for (const text of results) expect(text.length).toBeGreaterThan(5)
      await call.says('Thank you.')
      await call.hears('a further answer')
      await call.hangUp()
      const { call_log: log } = await call.report()
      expect(textsOf(log, 'assistant')).toEqual(
        expect.arrayContaining(['All of them failed.', 'Please go on.']),
      )
      const roles = log.map(({ role, tool_calls }) => (tool_calls ? 'calls' : role))
      expect(roles.indexOf('calls')).toBeLessThan(roles.indexOf('tool'))
    })
  })
}
