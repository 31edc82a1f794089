import { describe, expect, it } from 'vitest'
import { textsOf } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { until } from '../../support/until.ts'

/** Answer of some six seconds in the built-in voice. */
const story =
  'Once upon a time there was a lighthouse on a small island in the north. Every evening its keeper lit the lamp.'

const tellsStory = { when: { contains: ['story'] }, do: [{ say: story }] }
const tellsWeather = { when: { contains: ['weather'] }, do: [{ say: 'It is sunny.' }] }

/** Interruptions count as turns of their own, and a silent caller is not addressed. */
const params = { transparent_barge: false, wait_for_user: true }

/** Turn-taking on real calls. */
export const agentTurns = (lane: () => AgentLane): void => {
  describe('turns of an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it(
      'words interrupt the agent: it falls silent, and the model knows what was heard',
      inOrder,
      async () => {
        await lane().begin(tellsStory, tellsWeather)
        const call = await lane().dial({ params })
        await call.isHeard()
        await call.says('Tell me a story.')
        await call.speaks('the story', 1200)
        await call.says('Stop, how is the weather?')
        await until(
          'the model is asked again',
          () => lane().asked.length,
          (count) => count === 2,
        )
        const { messages } = lane().asked[1]!
        expect(textsOf(messages, 'user')).toEqual(['Tell me a story.', 'Stop, how is the weather?'])
        const [heard = ''] = textsOf(messages, 'assistant')
        expect(story.startsWith(heard)).toBe(true)
        expect(heard.length).toBeGreaterThan(10)
        expect(heard.length).toBeLessThan(story.length * 0.75)
        await call.isSilent('the story is cut', 300)
        await call.hears('the answer')
        await call.hangUp()
        const { call_log: log } = await call.report()
        expect(textsOf(log, 'assistant')).toEqual([heard, 'It is sunny.'])
        expect(log.find(({ barged }) => barged)).toMatchObject({ content: heard, text_spoken_total: story })
      },
    )

    it('a server that hears and speaks gets the position that the caller heard', inOrder, async () => {
      const tone = { hz: 440, ms: 20_000, text: story }
      await lane().begin({ when: { contains: ['story'] }, do: [{ tone }] }, tellsWeather)
      const call = await lane().dial({ engine: 'whole', params })
      await call.isHeard('realtime')
      await call.says('Tell me a story.')
      await call.speaks('the tone', 1000)
      const loudest = Math.max(...call.levels())
      await call.says('Stop, how is the weather?')
      const [truncated] = await until(
        'the item is cut',
        () => lane().received('conversation.item.truncate'),
        ({ length }) => length > 0,
      )
      // Half amplitude is 6 dB; a fading packet is a mean.
      const heard = call.sounds(loudest - 7).length
      const end = Number(truncated?.audio_end_ms)
      expect(Math.abs(end - heard * 20)).toBeLessThanOrEqual(60)
      await call.isSilent('the tone is cut')
      await call.hangUp()
    })

    it(
      'a server that writes is spoken by a voice, and knows the words that were heard',
      inOrder,
      async () => {
        await lane().begin(tellsStory, tellsWeather)
        const call = await lane().dial({ engine: 'written', params })
        await call.isHeard('realtime')
        await call.says('Tell me a story.')
        await call.speaks('the story', 1200)
        await call.says('Stop, how is the weather?')
        const [said] = await until(
          'the words that were heard replace the story',
          () => lane().received('conversation.item.create'),
          ({ length }) => length > 0,
        )
        const heard = (said!.item as { content: { text: string }[] }).content[0]!.text
        expect(story.startsWith(heard)).toBe(true)
        expect(heard.length).toBeLessThan(story.length * 0.75)
        expect(lane().received('conversation.item.delete')).toHaveLength(1)
        await call.isSilent('the story is cut', 300)
        await call.hears('the answer')
        await call.hangUp()
        const { call_log: log } = await call.report()
        expect(textsOf(log, 'assistant')).toEqual([heard, 'It is sunny.'])
        const answers = log.filter(({ role }) => role === 'assistant')
        for (const each of answers) expect(each).toMatchObject({ latency: expect.any(Number) })
      },
    )

    it('a cough fades the agent, which goes on in the same sentence', inOrder, async () => {
      await lane().begin(tellsStory)
      const call = await lane().dial({ params })
      await call.isHeard()
      await call.says('Tell me a story.')
      await call.speaks('the story', 1500)
      const { length } = lane().asked
      call.coughs()
      await call.isSilent('the whole story was heard', 1000)
      expect(lane().asked).toHaveLength(length)
      await call.hangUp()
      const { call_log: log } = await call.report()
      expect(textsOf(log, 'assistant')).toEqual([story])
      expect(log.some(({ barged }) => barged)).toBe(false)
    })

    it('the echo of its own voice at -20 dB does not interrupt the agent', inOrder, async () => {
      await lane().begin(tellsStory)
      const call = await lane().dial({ params })
      await call.isHeard()
      await call.says('Tell me a story.')
      await call.speaks('the begin of the story')
      // The recogniser understands nothing of the echo.
      for (let turn = 0; turn < 10; turn++) lane().standIns.willHear('')
      const { length } = lane().asked
      call.peer.returnsSound(100, 20)
      await call.isSilent('the whole story was heard', 1000)
      await call.hangUp()
      expect(lane().asked).toHaveLength(length)
      const { call_log: log } = await call.report()
      expect(textsOf(log, 'assistant')).toEqual([story])
    })

    it('a protected greeting is heard to its end', inOrder, async () => {
      await lane().begin(tellsWeather)
      const greeting = 'Welcome to the lighthouse. This call may be recorded for the training of our keepers.'
      const call = await lane().dial({
        params: {
          ...params,
          static_greeting: greeting,
          static_greeting_no_barge: true,
          wait_for_user: false,
        },
      })
      await call.speaks('the greeting', 500)
      await call.says('How is the weather?')
      await lane().isAsked('How is the weather?')
      await call.isSilent('the greeting is over', 300)
      await call.hears('the answer')
      await call.hangUp()
      const { call_log: log } = await call.report()
      const said = log.filter(({ role }) => String(role).startsWith('assistant'))
      expect(said.map(({ content, barged }) => [content, barged])).toEqual([
        [greeting, undefined],
        ['It is sunny.', undefined],
      ])
    })

    it('keys interrupt the agent, and are a turn for the model', inOrder, async () => {
      await lane().begin({ when: { pattern: '^42$' }, do: [{ say: 'Room forty two.' }] }, tellsStory)
      const call = await lane().dial({ params: { ...params, digit_timeout: 500 } })
      await call.isHeard()
      await call.says('Tell me a story.')
      await call.speaks('the story', 1000)
      call.peer.press('42')
      const { messages } = await lane().isAsked('42')
      expect(textsOf(messages, 'assistant')[0]?.length).toBeLessThan(story.length * 0.75)
      await call.isSilent('the story is cut', 300)
      await call.hears('the answer')
      await call.hangUp()
      expect(textsOf((await call.report()).call_log, 'assistant')).toContain('Room forty two.')
    })
  })
}
