import { describe, expect, it } from 'vitest'
import { joined, quiet, talk, tone } from '../../../media/detect/testing/detection-sounds.ts'
import { type Json, textsOf, tonePackets } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { script, scriptText } from '../../support/applications.ts'
import { digitsOf, faultsOf } from '../../support/hearing.ts'
import { ask } from '../../support/placed.ts'
import { authorization, fetchWav } from '../../support/recorded.ts'
import { SipCallee } from '../../support/sip-callee.ts'
import { until } from '../../support/until.ts'

const params = { wait_for_user: true }

/**
 * Returns the beginning of a sound by the times of its first packets in ms. Single packets are late on a busy
 * machine, so the median counts.
 */
const beginOf = (times: readonly number[]): number => {
  const begins = times.slice(0, 25).map((time, n) => time - n * 20)
  return begins.sort((a, b) => a - b)[begins.length >> 1]!
}

/** Keys, recordings, answering machines and media around an agent. */
export const agentTelephony = (lane: () => AgentLane): void => {
  /** Function whose reply runs a script. */
  const runs = (name: string, ...steps: readonly object[]): Json => ({
    function: name,
    description: name,
    parameters: { type: 'object', properties: {} },
    web_hook_url: lane().server.put(
      `/swaig/${name}`,
      JSON.stringify({ action: [{ SWML: script(...steps) }] }),
    ),
  })

  describe('telephony around an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it('the agent sends keys, and is the only agent of its call', inOrder, async () => {
      const functions = [
        runs('keys', { send_digits: { digits: '12#' } }, { set: { ai_response: 'The keys were sent.' } }),
        runs(
          'second',
          { ai: { prompt: { text: 'Another agent.' } } },
          { set: { ai_response: 'The second agent has %{ai_result}.' } },
        ),
      ]
      await lane().begin(
        { when: { contains: ['keys'] }, do: [{ call: 'keys' }] },
        { when: { contains: ['another'] }, do: [{ call: 'second' }] },
        { when: { on: 'result' }, do: [{ say: 'It is done.' }] },
      )
      const call = await lane().dial({ params, ai: { SWAIG: { functions } } })
      await call.isHeard()
      await call.says('Press the keys.')
      await call.hears('the answer after the keys')
      expect(digitsOf(call.peer.packets)).toBe('12#')
      await call.says('I want another agent.')
      await call.hears('the answer of the only agent')
      expect(textsOf(lane().asked.at(-1)!.messages, 'tool')).toEqual([
        'The keys were sent.',
        'The second agent has failed.',
      ])
      await call.hangUp()
      const said = textsOf((await call.report()).call_log, 'assistant').filter((text) => text !== '')
      expect(said).toEqual(['It is done.', 'It is done.'])
    })

    it('a message is left on an answering machine after its beep, whole', inOrder, async () => {
      const { gateway, server } = lane()
      await lane().begin({
        when: 'begin',
        do: [{ tone: { hz: 440, ms: 1500, text: 'This is a message.' } }, { call: 'hangup' }],
      })
      const ai = lane().agent(
        { engine: 'whole', ai: { global_data: { result: '%{detect_result}' } } },
        'machine',
      )
      const url = server.put(
        '/outbound',
        scriptText(
          { detect_machine: { wait: true, detect_message_end: true, timeout: 20 } },
          { ai },
          'hangup',
        ),
      )
      const machine = await SipCallee.open()
      const to = `${machine.uri};transport=udp`
      const { status } = await ask(gateway, 'dial', { from: 'sip:shop@demo.example', to, url })
      expect(status).toBe(200)
      await machine.answers()
      machine.media.say(joined([quiet(400), talk(2500), quiet(300), tone(1000, 400)]))
      await until('the beep is over', () => !machine.media.isSaying)
      expect(machine.voiceMs).toBe(0)
      await until('the gateway hangs up', () => machine.isOver)
      expect(Math.abs(tonePackets(machine.media, 440).length * 20 - 1500)).toBeLessThanOrEqual(40)
      machine.close()
      const [report] = await until(
        'the report',
        () => server.asked('/report/machine'),
        ({ length }) => length > 0,
      )
      expect(JSON.parse(report!.body)).toMatchObject({
        call_ended_by: 'agent',
        global_data: { result: 'machine' },
      })
    })

    it('both sides are recorded in step, and the audio of an engine in bursts is even', inOrder, async () => {
      await lane().begin(
        { when: { on: 'connect', engine: 'realtime' }, do: [{ after: 600 }] },
        // The pieces come at 20 times real time, then not at all, then late.
        {
          when: 'begin',
          do: [
            { after: 300 },
            { tone: { hz: 440, ms: 800, text: 'Hello there.', pace: 20 } },
            { tone: { hz: 440, ms: 800, text: 'How are you?', pace: 0.9 } },
          ],
        },
        { when: 'any', do: [{ tone: { hz: 700, ms: 600, text: 'Goodbye.' } }, { call: 'hangup' }] },
      )
      const call = await lane().dial({ engine: 'whole', before: [{ record_call: { stereo: true } }] })
      const answered = performance.now()
      await call.hearsTone(440, 1400)
      const [first] = call.peer.packets
      // Carriers end calls that are silent after their answer: packets come before the engine is connected.
      expect((first?.at ?? 0) - answered).toBeLessThan(200)
      // The first agent of a gateway waits for its code, before the first of these packets.
      expect(faultsOf(call.peer.packets.slice(5))).toEqual([])
      call.peer.say(tone(1000, 500))
      lane().standIns.willHear('Is it?')
      await call.hearsTone(700, 500)
      await call.isOver()
      const times = [440, 700].map((hz) =>
        beginOf(tonePackets(call.peer, hz).map((at) => call.peer.packets[at]!.at)),
      )
      const cdr = await lane().gateway.record(call.sipCallId)
      const [{ recording } = { recording: '' }] = cdr.recordings as readonly { recording: string }[]
      const url = `${lane().gateway.url}/api/recordings/${recording}`
      const found = await (await fetch(url, { headers: { authorization } })).json()
      const { channels } = await fetchWav((found as { url: string }).url)
      const [caller, agent] = channels as [Int16Array, Int16Array]
      const begins = (of: Int16Array, from = 0) =>
        (from + of.subarray(from).findIndex((at) => Math.abs(at) > 2000)) / 8
      const places = [begins(agent), begins(caller), begins(agent, (begins(agent) + 1900) * 8)]
      const [, mark, end] = places.map((place) => place - places[0]!)
      const [, said, last] = [times[0]!, beginOf(call.peer.saidAt), times[1]!].map((time) => time - times[0]!)
      expect(Math.abs(end! - last!)).toBeLessThanOrEqual(40)
      expect(Math.abs(mark! - said!)).toBeLessThanOrEqual(60)
    })
  })
}
