import { describe, expect, it } from 'vitest'
import { type Json, textsOf } from '../../support/agent-call.ts'
import type { AgentLane } from '../../support/agent-desk.ts'
import { script } from '../../support/applications.ts'
import { until } from '../../support/until.ts'
import { wav } from '../../support/wav.ts'

const params = { wait_for_user: true }

const noParameters = { type: 'object', properties: {} }

/** Functions, actions and steps of documents on real calls. */
export const agentFunctions = (lane: () => AgentLane): void => {
  /** Returns a function of a document, whose server gives this reply. */
  const webhook = (name: string, reply: object, parameters: object = noParameters): Json => ({
    function: name,
    description: name,
    parameters,
    web_hook_url: lane().server.put(`/swaig/${name}`, JSON.stringify(reply)),
  })

  describe('functions of an agent', { concurrent: true }, () => {
    const inOrder = { concurrent: false }

    it('a script of an action plays a sound, and comes back with a text for the model', inOrder, async () => {
      const SWML = script(
        { play: { url: 'say:Here is the sea.' } },
        { set: { ai_response: 'The caller heard the sea.' } },
      )
      await lane().begin(
        { when: { contains: ['sea'] }, do: [{ call: 'play_sea' }] },
        { when: { on: 'result' }, do: [{ say: 'Was it loud enough?' }] },
      )
      const functions = [webhook('play_sea', { response: 'Playing.', action: [{ SWML }] })]
      const call = await lane().dial({ params, ai: { SWAIG: { functions } } })
      await call.isHeard()
      await call.says('Play the sea.')
      await call.speaks('the sound and the answer', 1400)
      await call.isSilent('the answer is over')
      expect(textsOf(lane().asked.at(-1)!.messages, 'tool')).toEqual(['The caller heard the sea.'])
      await call.hangUp()
      expect(textsOf((await call.report()).call_log, 'assistant')).toContain('Was it loud enough?')
    })

    it('the sound of a function is heard until its server answers', inOrder, async () => {
      const tone = Int16Array.from({ length: 4000 }, (_, at) => 8000 * Math.sin((at * 2 * Math.PI) / 20))
      const wait_file = lane().server.put('/wait.wav', wav(tone, 8000))
      const answer = Promise.withResolvers<void>()
      const web_hook_url = lane().server.answers('/thinking', (response) => {
        void answer.promise.then(() => response.end(JSON.stringify({ response: 'It is sunny.' })))
      })
      await lane().begin(
        { when: { contains: ['weather'] }, do: [{ call: 'weather' }] },
        { when: { on: 'result' }, do: [{ say: 'The sun shines.' }] },
      )
      const waiting = { wait_file, wait_file_loops: 20, web_hook_url }
      const functions = [
        { function: 'weather', description: 'Weather.', parameters: noParameters, ...waiting },
      ]
      const call = await lane().dial({ params, ai: { SWAIG: { functions } } })
      await call.isHeard()
      call.mark()
      await call.says('What is the weather?')
      // The sound has half a second: it is repeated.
      await call.speaks('the sound of the function', 1000)
      answer.resolve()
      await until(
        'the result',
        () => textsOf(lane().asked.at(-1)!.messages, 'tool'),
        ([result]) => result === 'It is sunny.',
      )
      call.mark()
      await call.hears('the answer')
      await call.hangUp()
      expect(textsOf((await call.report()).call_log, 'assistant')).toContain('The sun shines.')
    })

    it('a script of an action with transfer takes the call over', inOrder, async () => {
      const seen = lane().server.put('/taken', '{}')
      const SWML = script({ request: { url: seen, method: 'POST', body: { taken: true } } }, 'hangup')
      await lane().begin(
        { when: { contains: ['sales'] }, do: [{ say: 'I connect you.' }, { call: 'to_sales' }] },
        { when: { on: 'result' }, do: [{ say: 'Goodbye from the agent.' }] },
      )
      const action = [{ SWML, transfer: 'true' }]
      const functions = [webhook('to_sales', { response: 'Say goodbye.', post_process: true, action })]
      const call = await lane().dial({ params, ai: { SWAIG: { functions } } })
      await call.isHeard()
      await call.says('Sales, please.')
      await call.isOver()
      expect(lane().server.asked('/taken')).toHaveLength(1)
      const { call_log: log, call_ended_by: by } = await call.report()
      expect(by).toBe('agent')
      expect(log.filter(({ barged }) => barged)).toEqual([])
      expect(textsOf(log, 'assistant').at(-1)).toBe('Goodbye from the agent.')
    })

    it(
      'steps lead through a document: questions are gathered, and the next step begins',
      inOrder,
      async () => {
        const first = {
          name: 'greet',
          text: 'Greet the caller.',
          step_criteria: 'The caller was greeted.',
          valid_steps: ['details'],
        }
        const questions = [
          { key: 'guests', question: 'How many guests?', type: 'integer' },
          { key: 'name', question: 'On which name?' },
        ]
        const details = {
          name: 'details',
          text: 'Ask for the details.',
          gather_info: { questions, output_key: 'booking', completion_action: 'next_step' },
          valid_steps: ['done'],
        }
        const done = { name: 'done', text: 'Thank the caller.', end: true }
        await lane().begin(
          {
            when: { contains: ['book'] },
            do: [{ call: { name: 'next_step', arguments: { step: 'details' } } }],
          },
          {
            when: { contains: ['four'] },
            do: [{ call: { name: 'gather_submit', arguments: { answer: 4 } } }],
          },
          {
            when: { contains: ['Miller'] },
            do: [{ call: { name: 'gather_submit', arguments: { answer: 'Miller' } } }],
          },
          { when: { result: 'next_step' }, do: [{ say: 'How many guests?' }] },
          { when: { result: 'gather_submit' }, do: [{ say: 'All right.' }] },
        )
        const contexts = { default: { steps: [first, details, done] } }
        const call = await lane().dial({
          params,
          ai: { prompt: { text: 'You book tables.', contexts } },
        })
        await call.isHeard()
        for (const text of ['I want to book.', 'We are four.', 'My name is Miller.']) {
          await call.says(text)
          await call.hears(`the answer to ${text}`)
        }
        const offered = lane().asked.map(({ tools = [] }) =>
          tools.map((tool) => (tool.function as Json).name as string).sort(),
        )
        expect(offered[0]).toContain('next_step')
        expect(offered[0]).not.toContain('gather_submit')
        expect(offered[1]).toContain('gather_submit')
        expect(offered.at(-1)).not.toContain('gather_submit')
        const system = textsOf(lane().asked.at(-1)!.messages, 'system').join('\n')
        expect(system).toContain('Thank the caller.')
        await call.hangUp()
        const { global_data: data } = await call.report()
        expect(data).toMatchObject({ booking: { guests: 4, name: 'Miller' } })
      },
    )

    it('a document in the form of the published SDK runs, with its secure functions', inOrder, async () => {
      const { server } = lane()
      const token = 'c2VjdXJl.dG9rZW4'
      server.put('/swaig', (request) =>
        request.fields.__token === token
          ? JSON.stringify({ response: 'It is 20 degrees.', action: [{ set_global_data: { asked: true } }] })
          : JSON.stringify({ error: 'Invalid token' }),
      )
      const url = server.urlOf('/swaig')
      const ai = {
        prompt: {
          pom: [
            { title: 'Personality', body: 'You are a weather expert.' },
            { title: 'Instructions', bullets: ['Be brief.', 'Use get_weather.'] },
          ],
          temperature: 0.3,
          top_p: 0.9,
        },
        languages: [{ name: 'English', code: 'en-US', voice: 'rime.spore', speech_fillers: ['Hm.'] }],
        hints: ['weather'],
        pronounce: [{ replace: 'API', with: 'A P I', ignore_case: false }],
        global_data: { customer: 'ACME' },
        SWAIG: {
          defaults: { web_hook_url: url },
          native_functions: ['check_time'],
          functions: [
            {
              function: 'get_weather',
              description: 'Get the weather of a place.',
              parameters: {
                type: 'object',
                properties: { location: { type: 'string', description: 'The city.' } },
                required: ['location'],
              },
              web_hook_url: `${url}?__token=${token}`,
              fillers: { 'en-US': ['Let me look.'] },
            },
          ],
        },
      }
      await lane().begin(
        {
          when: { contains: ['Berlin'] },
          do: [{ call: { name: 'get_weather', arguments: { location: 'Berlin' } } }],
        },
        { when: { on: 'result' }, do: [{ say: '{{result}}' }] },
      )
      const call = await lane().dial({ params, ai })
      await call.isHeard()
      await call.says('How is the weather in Berlin?')
      const [request] = await until(
        'the function is called',
        () => server.asked('/swaig'),
        ({ length }) => length > 0,
      )
      expect(request?.fields).toEqual({ __token: token })
      expect(JSON.parse(request?.body ?? '')).toMatchObject({
        function: 'get_weather',
        argument: { parsed: [{ location: 'Berlin' }] },
        call_id: call.id,
        global_data: { customer: 'ACME' },
      })
      await until('the model has the result', () => textsOf(lane().asked.at(-1)!.messages, 'tool').length)
      await call.hears('the answer')
      await call.hangUp()
      const { call_log: log, global_data: data } = await call.report()
      expect(textsOf(log, 'assistant')).toContain('It is 20 degrees.')
      expect(data).toEqual({ customer: 'ACME', asked: true })
      expect(textsOf(lane().asked[0]!.messages, 'system').join()).toContain('You are a weather expert.')
    })
  })
}
