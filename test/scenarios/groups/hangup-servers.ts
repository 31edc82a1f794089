import { expect } from 'vitest'
import type { TestStreamServer } from '../../../gateway/streams/testing/stream-server.ts'
import { scriptText, xmlText } from '../../support/applications.ts'
import type { Carrier } from '../../support/carrier.ts'
import { chimes, type Hangups, type Scenes, tones } from '../../support/hangups.ts'
import { until } from '../../support/until.ts'

const answered = (caller: Carrier) => caller.talks('answered', tones.caller)

/** Path that does not answer until `answer` is called. */
interface SlowPath {
  readonly url: string
  readonly answer: (text: string) => void
  /** Resolves when the gateway has left. */
  readonly left: Promise<void>
}

const slow = (stage: Hangups, path: string): SlowPath => {
  const left = Promise.withResolvers<void>()
  let answer = (_text: string): void => {}
  const url = stage.server.answers(path, (response) => {
    answer = (text) => void response.end(text)
    response.on('close', () => left.resolve())
  })
  return { url, answer: (text) => answer(text), left: left.promise }
}

const asked = async (stage: Hangups, path: string): Promise<void> => {
  await until(
    `${path} is asked for`,
    () => stage.server.asked(path).length,
    (count) => count === 1,
  )
}

/** The caller hangs up while a customer's server receives audio or has a pending request. */
export const serverHangups = (stage: Hangups, streams: TestStreamServer): Scenes => ({
  'a stream': {
    xml: () => ({
      document: xmlText(
        `<Connect action="${stage.url('action')}"><Stream url="${streams.url}" statusCallback="${stage.url('stream')}"/></Connect>`,
      ),
      moment: async (caller) => {
        await answered(caller)
        await until('the stream is heard', () => streams.of('media').length > 5)
      },
      callbacks: [
        ['stream', { StreamEvent: 'stream-started' }],
        ['stream', { StreamEvent: 'stream-stopped' }],
        ['action', { CallStatus: 'completed' }],
      ],
      after: () => until('its server is notified', () => streams.of('stop').length === 1),
    }),
    script: () => ({
      document: scriptText({ connect: { to: `stream:${streams.url}`, status_url: stage.url('stream') } }),
      moment: async (caller) => {
        await answered(caller)
        await until('the stream is heard', () => streams.of('media').length > 5)
      },
      callbacks: [
        ['stream', { state: 'streaming' }],
        ['stream', { state: 'finished' }],
      ],
      after: () => until('its server is notified', () => streams.of('stop').length === 1),
    }),
  },
  'a tap': {
    script: () => ({
      document: scriptText({ tap: { uri: streams.url, status_url: stage.url('tap') } }, { sleep: -1 }),
      moment: async (caller) => {
        await answered(caller)
        await until('the tap is heard', () => streams.messages.length > 5)
      },
      callbacks: [
        ['tap', { state: 'tapping' }],
        ['tap', { state: 'finished' }],
      ],
    }),
  },
  'a detection': {
    script: () => ({
      document: scriptText('answer', {
        detect_machine: { timeout: 60, initial_timeout: 60, status_url: stage.url('detect') },
      }),
      moment: async (caller) => {
        await caller.talks('answered', 0)
        await until(
          'it listens',
          () => stage.gateway.metric('media_detections'),
          (count) => count === 1,
        )
      },
      callbacks: [['detect', { detect: { params: { event: 'finished' } } }]],
      after: () =>
        until(
          'it listens no more',
          () => stage.gateway.metric('media_detections'),
          (count) => count === 0,
        ),
    }),
  },
  'a request to a slow server': {
    script: () => {
      const { url, left } = slow(stage, '/slow')
      return {
        document: scriptText('answer', { request: { url, method: 'POST', timeout: 60 } }),
        moment: async (caller) => {
          await answered(caller)
          await asked(stage, '/slow')
        },
        after: () => left,
      }
    },
    flow: () => {
      const { url, left } = slow(stage, '/slow')
      return {
        document: JSON.stringify({
          nodes: {
            start: { kind: 'start', edges: { next: 'answer' } },
            answer: { kind: 'answer', edges: { next: 'ask' } },
            ask: { kind: 'request', options: { url, method: 'POST', timeout: 60 } },
          },
        }),
        moment: async (caller) => {
          await answered(caller)
          await asked(stage, '/slow')
        },
        after: () => left,
      }
    },
  },
  'the wait for the next document': {
    xml: () => {
      const { url, answer } = slow(stage, '/slow')
      return {
        document: xmlText(
          `<Gather numDigits="1" action="${url}"><Play loop="0">${stage.chime}</Play></Gather>`,
        ),
        moment: async (caller) => {
          await chimes(caller)
          caller.media.press('5')
          await asked(stage, '/slow')
          expect(stage.server.asked('/slow')[0]?.fields.Digits).toBe('5')
        },
        // A document after the end of the call has no effect.
        after: async () => answer(xmlText(`<Redirect>${stage.url('action')}</Redirect>`)),
      }
    },
    script: () => {
      const { url, answer } = slow(stage, '/slow')
      return {
        document: scriptText('answer', { transfer: { dest: url } }),
        moment: async (caller) => {
          await answered(caller)
          await asked(stage, '/slow')
        },
        after: async () => answer(scriptText({ request: { url: stage.url('action'), method: 'POST' } })),
      }
    },
  },
  'the wait for the first document': Object.fromEntries(
    ['xml', 'script', 'flow'].map((kind) => [
      kind,
      () => {
        const { answer } = slow(stage, '/document')
        return {
          document: '',
          scenario: 'call-gives-up',
          moment: async (caller: Carrier) => {
            await caller.sipp.event('trying')
            await asked(stage, '/document')
          },
          after: async () => answer(xmlText(`<Redirect>${stage.url('action')}</Redirect>`)),
        }
      },
    ]),
  ),
})
