import { scriptText, xmlText } from '../../support/applications.ts'
import type { Carrier } from '../../support/carrier.ts'
import { chimes, type Hangups, type Scenes, tones } from '../../support/hangups.ts'
import { until } from '../../support/until.ts'

const verbIsOver = async (stage: Hangups, verb: string): Promise<() => Promise<void>> => {
  const over = () => stage.gateway.metric('verbs_total', { verb })
  const before = await over()
  return async () => void (await until(`${verb} is over`, over, (count) => count > before))
}

/** Waits until the caller has sent half a second of audio. */
const half = async ({ media }: Carrier): Promise<void> => {
  const before = media.sent
  await until('half a second was sent', () => media.sent - before >= 25)
}

const answered = (caller: Carrier) => caller.talks('answered', tones.caller)

/** The caller hangs up in the middle of a verb. */
export const verbHangups = (stage: Hangups): Scenes => ({
  play: {
    xml: () => ({ document: xmlText(`<Play loop="0">${stage.chime}</Play>`), moment: chimes }),
    script: () => ({
      document: scriptText({ play: { urls: [stage.chime, 'silence:60'], status_url: stage.url('play') } }),
      moment: chimes,
      callbacks: [
        ['play', { state: 'playing' }],
        ['play', { state: 'finished' }],
      ],
    }),
  },
  'collect, while the prompt plays': {
    xml: () => ({
      document: xmlText(
        `<Gather action="${stage.url('action')}"><Play loop="0">${stage.chime}</Play></Gather>`,
      ),
      moment: chimes,
    }),
    script: () => ({
      document: scriptText({
        prompt: { play: [stage.chime, 'silence:60'], max_digits: 4, status_url: stage.url('collect') },
      }),
      moment: chimes,
      callbacks: [['collect', { final: true }]],
    }),
  },
  'collect, after the first digit': {
    xml: () => ({
      document: xmlText(
        `<Gather timeout="60" action="${stage.url('action')}"><Play loop="0">${stage.chime}</Play></Gather>`,
      ),
      moment: async (caller) => {
        await chimes(caller)
        caller.media.press('1')
        await half(caller)
      },
    }),
    script: () => ({
      document: scriptText({
        prompt: {
          play: [stage.chime, 'silence:60'],
          max_digits: 4,
          digit_timeout: 60,
          status_url: stage.url('collect'),
        },
      }),
      moment: async (caller) => {
        await chimes(caller)
        caller.media.press('1')
        await stage.receives('collect', { final: false })
      },
      callbacks: [
        ['collect', { final: false }],
        ['collect', { final: true }],
      ],
    }),
  },
  record: {
    xml: () => ({
      document: xmlText(
        `<Record playBeep="false" action="${stage.url('action')}" recordingStatusCallback="${stage.url('recording')}" recordingStatusCallbackEvent="in-progress completed absent"/>`,
      ),
      moment: async (caller) => {
        await answered(caller)
        await stage.receives('recording', { RecordingStatus: 'in-progress' })
        await half(caller)
      },
      callbacks: [
        ['recording', { RecordingStatus: 'in-progress' }],
        ['recording', { RecordingStatus: 'completed' }],
        ['action', { Digits: 'hangup', CallStatus: 'completed' }],
      ],
    }),
    script: () => ({
      document: scriptText({ record: { status_url: stage.url('record') } }),
      moment: async (caller) => {
        await answered(caller)
        await stage.reaches('recordings')
        await half(caller)
      },
      callbacks: [
        ['record', { state: 'recording' }],
        ['record', { state: 'finished' }],
      ],
    }),
  },
  echo: {
    xml: () => ({
      document: xmlText('<Echo/>'),
      moment: async (caller) => {
        await answered(caller)
        await caller.hears(tones.caller)
      },
    }),
  },
  'record, in the background': {
    script: () => ({
      document: scriptText({ record_call: { status_url: stage.url('record') } }, { sleep: -1 }),
      moment: async (caller) => {
        await answered(caller)
        await stage.reaches('recordings')
        await half(caller)
      },
      callbacks: [
        ['record', { state: 'recording' }],
        ['record', { state: 'finished' }],
      ],
    }),
    flow: () => ({
      document: JSON.stringify({
        nodes: {
          start: { kind: 'start', edges: { next: 'record' } },
          record: {
            kind: 'start_recording',
            options: { name: 'all', status_url: stage.url('record') },
            edges: { next: 'play' },
          },
          play: { kind: 'play', options: { urls: [stage.chime, 'silence:60'] } },
        },
      }),
      moment: async (caller) => {
        await chimes(caller)
        await half(caller)
      },
      callbacks: [
        ['record', { state: 'recording' }],
        ['record', { state: 'finished' }],
      ],
    }),
  },
  'a voicemail message': {
    flow: () => ({
      document: JSON.stringify({
        nodes: {
          start: { kind: 'start', edges: { next: 'mail' } },
          mail: {
            kind: 'voicemail',
            options: { greeting: stage.chime, beep: false, status_url: stage.url('record') },
          },
        },
      }),
      moment: async (caller) => {
        await chimes(caller)
        await stage.reaches('recordings')
        await half(caller)
      },
      callbacks: [
        ['record', { state: 'recording' }],
        ['record', { state: 'finished' }],
      ],
    }),
  },
  sleep: {
    xml: async () => {
      const played = await verbIsOver(stage, 'play')
      return {
        document: xmlText(`<Play>${stage.chime}</Play><Pause length="60"/>`),
        moment: async (caller) => {
          await answered(caller)
          await played()
          await stage.reaches('verbs')
        },
      }
    },
    script: async () => {
      const is = await verbIsOver(stage, 'answer')
      return {
        document: scriptText('answer', { sleep: -1 }),
        moment: async (caller) => {
          await answered(caller)
          await is()
          await stage.reaches('verbs')
        },
      }
    },
  },
  'sending of digits': {
    xml: () => ({
      document: xmlText('<Play digits="1WWWWWWWWWWWWWWWWWWWW2"/>'),
      moment: async (caller) => {
        await answered(caller)
        await caller.receivesDigits('1')
      },
    }),
    script: () => ({
      document: scriptText('answer', { send_digits: { digits: '1WWWWWWWWWWWWWWWWWWWW2' } }),
      moment: async (caller) => {
        await answered(caller)
        await caller.receivesDigits('1')
      },
    }),
  },
  'a REFER': {
    xml: () => ({
      document: xmlText(
        `<Play>${stage.chime}</Play><Refer action="${stage.url('action')}"><Sip>sip:desk@elsewhere.test</Sip></Refer>`,
      ),
      scenario: 'call-referred',
      moment: async (caller) => {
        await answered(caller)
        await caller.sipp.event('referred')
      },
      callbacks: [['action', { ReferSipResponseCode: '202' }]],
    }),
    script: () => ({
      document: scriptText('answer', {
        sip_refer: { to_uri: 'sip:desk@elsewhere.test', status_url: stage.url('refer') },
      }),
      scenario: 'call-referred',
      moment: async (caller) => {
        await answered(caller)
        await caller.sipp.event('referred')
      },
      callbacks: [['refer', {}]],
    }),
  },
})
