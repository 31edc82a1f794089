import { describe, expect, it } from 'vitest'
import { type Json, textsOf, tonePackets } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { script, scriptText } from '../../support/applications.ts'
import { SipCallee } from '../../support/sip-callee.ts'
import { until } from '../../support/until.ts'

const params = { wait_for_user: true }

/** Tones of the parties, in Hz. */
const tones = { caller: 440, person: 600, agent: 1000, again: 800 }

/** Transfers of calls from an agent to persons, queues, conferences and other systems. */
export const agentTransfers = (lane: () => AgentLane): void => {
  /** Document with one function, whose reply has these actions. */
  const leaving = (...action: readonly object[]): Json => ({
    SWAIG: {
      functions: [
        {
          function: 'leave',
          description: 'Leaves.',
          parameters: { type: 'object', properties: {} },
          web_hook_url: lane().server.put('/swaig/leave', JSON.stringify({ response: 'Done.', action })),
        },
      ],
    },
  })

  /** The agent says two seconds of a tone, and leaves. */
  const saysGoodbye = {
    when: { contains: ['leave'] },
    do: [
      { tone: { hz: tones.agent, ms: 2000, text: 'I connect you, one moment please.' } },
      { call: 'leave' },
    ],
  }

  /** Calls the agent, and waits for the whole goodbye before it leaves. */
  const left = async (ai: Json) => {
    const call = await lane().dial({ engine: 'whole', params, ai })
    await call.isHeard('realtime')
    await call.says('Please leave.')
    await call.hearsTone(tones.agent, 1960)
    return call
  }

  describe('transfers by an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it(
      'a person hears who calls before the caller, and the agent goes on after the person',
      inOrder,
      async () => {
        const person = await SipCallee.open()
        const SWML = script(
          { connect: { to: person.uri, confirm: [{ play: { url: 'say:A caller about a table.' } }] } },
          { set: { ai_response: 'The person has hung up.' } },
        )
        // The text comes as a result, or as a message if the function has taken too long for the model.
        const goesOn = { when: { on: 'result' }, do: [{ tone: { hz: tones.again, ms: 1000 } }] }
        await lane().begin(saysGoodbye, goesOn)
        const call = await left(leaving({ SWML }))
        await person.answers(tones.person)
        await until('the person hears the announcement', () => person.voiceMs > 500)
        expect(call.toneMs(tones.person)).toBe(0)
        call.peer.tone(tones.caller)
        await call.hearsTone(tones.person)
        await until('the person hears the caller', () => tonePackets(person.media, tones.caller).length > 15)
        call.peer.tone(0)
        // The engine would take the rest of the tone for a turn, and drop its answer.
        await call.isQuiet()
        await person.hangUp()
        await call.hearsTone(tones.again, 900)
        await call.hangUp()
        person.close()
        const learned = JSON.stringify(lane().received('conversation.item.create'))
        expect(learned).toContain('The person has hung up.')
        expect((await call.report()).call_ended_by).toBe('caller')
      },
    )

    it('a person is released if the caller leaves before both are connected', inOrder, async () => {
      const person = await SipCallee.open()
      const confirm = [{ play: { url: 'say:A caller about a table, who has waited for a long time.' } }]
      await lane().begin(saysGoodbye)
      const call = await left(leaving({ SWML: script({ connect: { to: person.uri, confirm } }) }))
      await person.answers(tones.person)
      await until('the person hears the announcement', () => person.voiceMs > 300)
      await call.hangUp()
      await until('the person is released', () => person.isOver, Boolean, 1000)
      person.close()
      expect((await call.report()).call_ended_by).toBe('caller')
    })

    it(
      'a telephone that takes the call over from the caller talks to the agent after the person',
      inOrder,
      async () => {
        const person = await SipCallee.open()
        await lane().begin(saysGoodbye)
        const call = await left(leaving({ SWML: script({ connect: { to: person.uri } }) }))
        await person.answers(tones.person)
        await call.hearsTone(tones.person)
        const other = await lane().call('sip:any@agents.test', call.user, [`Replaces: ${call.replaces}`])
        await call.isOver()
        await other.hearsTone(tones.person)
        await person.hangUp()
        person.close()
        await other.isSilent('the person has gone')
        await other.says('Hello, are you there?')
        await other.hears('the agent')
        await other.hangUp()
        const { call_log: log } = await other.report()
        expect(textsOf(log, 'user')).toContain('Hello, are you there?')
      },
    )

    it.each<[string, (name: string, after: string) => readonly [object, object]]>([
      [
        'a queue',
        (name, after) => [
          { enter_queue: { queue_name: name, transfer_after_bridge: after } },
          { connect: { to: `queue:${name}`, transfer_after_bridge: after } },
        ],
      ],
      ['a conference', (name) => [{ join_conference: { name } }, { join_conference: { name } }]],
    ])('the caller meets a person in %s, after the whole goodbye', inOrder, async (where, steps) => {
      const name = `agent-${where.replace(' ', '-')}`
      const [enter, meet] = steps(name, lane().server.put('/after', scriptText('hangup')))
      await lane().begin(saysGoodbye)
      const call = await left(leaving({ SWML: script(enter), transfer: true }))
      expect((await call.report()).call_ended_by).toBe('agent')
      const other = await lane().call(lane().serves(scriptText({ answer: {} }, meet)), 'other')
      call.peer.tone(tones.caller)
      other.peer.tone(tones.person)
      await Promise.all([call.hearsTone(tones.person), other.hearsTone(tones.caller)])
      // Nothing of the goodbye was cut, and nothing of it was heard twice.
      expect(Math.abs(call.toneMs(tones.agent) - 2000)).toBeLessThanOrEqual(40)
      await other.hangUp()
      await call.hangUp()
    })

    it('the caller is referred to another system, after the whole goodbye', inOrder, async () => {
      await lane().begin(saysGoodbye)
      const SWML = script({ sip_refer: { to_uri: 'sip:sales@carrier.test' } })
      const call = await left(leaving({ SWML, transfer: true }))
      expect(await call.isReferred()).toContain('sip:sales@carrier.test')
      expect(Math.abs(call.toneMs(tones.agent) - 2000)).toBeLessThanOrEqual(40)
      await call.isOver()
      expect((await call.report()).call_ended_by).toBe('agent')
    })
  })
}
