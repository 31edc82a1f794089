import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentEvent, SignalWire } from '../../../realtime/src/index.ts'
import { textsOf } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { flowText, scriptText } from '../../support/applications.ts'
import { ask } from '../../support/placed.ts'
import { apiToken } from '../../support/recorded.ts'
import { made, rest } from '../../support/rest.ts'
import { until } from '../../support/until.ts'

const params = { wait_for_user: true }

/** Agents that are commanded, reached and left in other ways. */
export const agentControl = (lane: () => AgentLane): void => {
  describe('control of an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it('the API sends messages, holds the agent, and ends it; the script goes on', inOrder, async () => {
      await lane().begin(
        // Without a turn of the caller, the model begins.
        { when: 'begin', do: [{ say: 'We close in five minutes.' }], times: 1 },
        { when: 'begin', do: [{ say: 'I am back.' }] },
      )
      const call = await lane().dial({ params, after: [{ play: { url: 'say:This is the end.' } }, 'hangup'] })
      await call.isHeard()
      const send = async (name: string, values: object = {}) => {
        const { status, body } = await ask(lane().gateway, `calling.${name}`, values, call.id)
        expect([status, body]).toEqual([200, expect.anything()])
      }
      await send('ai_message', { role: 'system', message_text: 'Tell that we are closing.' })
      await call.hears('the answer to the message')
      call.mark()
      await send('ai_hold', { timeout: 60, prompt: 'One moment, please.' })
      await call.speaks('the text, and then the music of the hold', 4000)
      const { length } = lane().asked
      await call.says('Is there anything else?')
      // The recogniser gets silence, so the text is for the next turn.
      await call.isQuiet()
      expect(lane().asked).toHaveLength(length)
      call.mark()
      await send('ai_unhold', { prompt: 'Tell that you are back.' })
      await call.speaks('the answer after the hold')
      // The agent may fade in mid-sentence, for a voice that it began to hear before.
      await call.isSilent('the end of the answer after the hold', 1500)
      await call.says()
      await lane().isAsked('Is there anything else?')
      call.mark()
      await call.hears('the answer to the caller')
      await send('ai_stop')
      await call.speaks('the next step')
      await call.isOver()
      const { call_log: log } = await call.report()
      expect(textsOf(log, 'assistant')).toEqual(['We close in five minutes.', 'I am back.', 'Please go on.'])
      expect(textsOf(log, 'assistant-manual')).toEqual(['One moment, please.'])
      expect(textsOf(log, 'user')).toEqual(['Is there anything else?'])
    })

    it('an agent of the API is called by a carrier, a script and a flow', inOrder, async () => {
      const { gateway } = lane()
      await lane().begin()
      const settings = lane().agent({ params: { static_greeting: 'This is the agent.' } }, 'resource')
      const agent = await made(gateway, '/api/fabric/resources/ai_agents', { name: 'Desk', ...settings })
      const { domain } = await made(gateway, '/api/fabric/domain_applications', {
        name: 'Desk',
        identifier: 'desk',
        ip_auth_enabled: true,
        ip_auth: ['127.0.0.0/8'],
        call_handler: 'ai_agent',
        call_ai_agent_id: agent.id,
      })
      const { data } = (await rest(gateway, 'GET', `/api/fabric/resources/ai_agents/${agent.id}/addresses`))
        .body
      const address = `/${data[0].context ?? 'public'}/${data[0].name}`
      const uris = [
        `sip:any@${domain}`,
        lane().serves(scriptText({ connect: { to: address } }, 'hangup')),
        lane().serves(flowText('agent', { address }), 'flow'),
      ]
      for (const [at, uri] of uris.entries()) {
        const call = await lane().call(uri, 'resource')
        await call.hears('the greeting')
        await call.says('Hello.')
        await call.hears('the answer')
        await call.hangUp()
        const reports = await until(
          `the report of ${uri}`,
          () => lane().server.asked('/report/resource'),
          ({ length }) => length === at + 1,
        )
        const log = JSON.parse(reports.at(-1)!.body).call_log
        expect(log.slice(1).map(({ content }: { content: string }) => content)).toEqual([
          'This is the agent.',
          'Hello.',
          'Please go on.',
        ])
      }
    })

    it('an application reads the words of both sides while they are said', inOrder, async () => {
      const { gateway } = lane()
      await lane().begin(
        { when: { contains: ['book'], offers: ['book'] }, do: [{ call: 'book' }] },
        { when: { on: 'result' }, do: [{ say: 'Your table is booked.' }] },
      )
      const { domain } = await made(gateway, '/api/fabric/domain_applications', {
        name: 'Application',
        identifier: 'application',
        ip_auth_enabled: true,
        ip_auth: ['127.0.0.0/8'],
        call_handler: 'relay_topic',
        call_relay_topic: 'agents',
      })
      const host = `ws://127.0.0.1:${gateway.httpPort}`
      const client = await SignalWire({ project: 'default', token: apiToken, host })
      onTestFinished(() => client.disconnect())
      const swaig = lane().server.put('/book', JSON.stringify({ response: 'Booked.' }))
      const functions = [{ function: 'book', description: 'Books.', web_hook_url: swaig }]
      const settings = lane().agent({ params, ai: { SWAIG: { functions } } }, 'application')
      const heard: AgentEvent[] = []
      let isOver = false
      await client.voice.listen({
        topics: ['agents'],
        onCallReceived: async (call) => {
          const agent = call.ai({ prompt: { text: 'You book tables.' }, ...settings })
          call.onAgentEvent((event) => heard.push(event))
          await agent
          isOver = true
        },
      })
      const call = await lane().call(`sip:any@${domain}`, 'application')
      await call.isHeard()
      await call.says('Book a table.')
      const booked = { type: 'answer', text: 'Your table is booked.', isBarged: false, isGivenUp: false }
      await until('the answer', () => heard.find(({ type }) => type === 'answer'))
      await call.hangUp()
      await until('the end of the agent', () => isOver)
      const whole = heard.filter(({ type }) => type !== 'partial' && type !== 'utterance')
      expect(whole).toEqual([
        { type: 'start' },
        { type: 'user', text: 'Book a table.', isJoined: false },
        expect.objectContaining({ type: 'function', name: 'book', outcome: 'finished' }),
        booked,
        { type: 'stop', reason: 'hangup' },
      ])
      const pieces = heard.flatMap((event) => (event.type === 'utterance' ? [event.text] : []))
      expect(pieces.join('')).toBe('Your table is booked.')
    })

    it('an application reads the transcript of an agent whose address it calls', inOrder, async () => {
      const { gateway } = lane()
      await lane().begin()
      const settings = lane().agent({ params: { static_greeting: 'This is the agent.' } }, 'called')
      const agent = await made(gateway, '/api/fabric/resources/ai_agents', { name: 'Called', ...settings })
      const { data } = (await rest(gateway, 'GET', `/api/fabric/resources/ai_agents/${agent.id}/addresses`))
        .body
      const host = `ws://127.0.0.1:${gateway.httpPort}`
      const client = await SignalWire({ project: 'default', token: apiToken, host })
      onTestFinished(() => client.disconnect())
      const to = `/${data[0].context ?? 'public'}/${data[0].name}`
      const call = await client.voice.dialSip({ from: 'sip:application@agents.test', to })
      const heard: AgentEvent[] = []
      call.onAgentEvent((event) => heard.push(event))
      const greeting = await until('the greeting', () => heard.find(({ type }) => type === 'answer'))
      expect(greeting).toMatchObject({ text: 'This is the agent.', isBarged: false })
      await call.hangup()
    })

    it('a caller who hangs up in mid-answer leaves a report of what was heard', inOrder, async () => {
      const list = 'Apples, bananas, cherries, dates, figs, grapes, lemons, melons, oranges, pears and plums.'
      await lane().begin({ when: { contains: ['fruit'] }, do: [{ say: `We have this fruit: ${list}` }] })
      const call = await lane().dial({ params, ai: { post_prompt: { text: 'Summarize.' } } })
      await call.isHeard()
      await call.says('Which fruit do you have?')
      await call.speaks('the list', 1200)
      await call.hangUp()
      const { call_log: log, call_ended_by: by } = await call.report()
      const [heard = ''] = textsOf(log, 'assistant')
      expect(by).toBe('caller')
      expect(heard).toMatch(/^We have/)
      expect(heard).not.toContain('plums')
    })

    it('the caller is classified before the agent begins', inOrder, async () => {
      await lane().begin()
      const call = await lane().dial({
        before: [{ detect_machine: { wait: true, timeout: 10 } }],
        params: { static_greeting: 'A good day to you.' },
        ai: { global_data: { result: '%{detect_result}' } },
      })
      await call.says('Hello?')
      await call.hears('the greeting')
      await call.hangUp()
      expect((await call.report()).global_data).toEqual({ result: 'human' })
    })
  })
}
