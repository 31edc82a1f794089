import { flowText, scriptText, xmlText } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import { type Hangups, type Scenes, tones } from '../../support/hangups.ts'

const answered = (caller: Carrier) => caller.talks('answered', tones.caller)
const rings = () => Carrier.listens({ scenario: 'callee-cancelled' })
const takes = () => Carrier.listens({ scenario: 'callee-takes' })

/** Waits until caller and callee hear each other. */
const talking = (callee: Carrier) => async (caller: Carrier) => {
  await answered(caller)
  await callee.talks('invited', tones.other)
  await caller.hears(tones.other)
  await callee.hears(tones.caller)
}

/** Waits until the callee rings. */
const ringing = (callee: Carrier) => async (caller: Carrier) => {
  await answered(caller)
  await callee.sipp.event('invited')
}

/** The caller hangs up while a callee rings or talks. */
export const connectHangups = (stage: Hangups): Scenes => ({
  'connect, while the callee rings': {
    xml: async () => {
      const callee = await rings()
      const status = `statusCallback="${stage.url('status')}" statusCallbackEvent="initiated ringing answered completed"`
      return {
        document: xmlText(`<Dial action="${stage.url('action')}"><Sip ${status}>${callee.uri}</Sip></Dial>`),
        others: [callee],
        moment: async (caller) => {
          await ringing(callee)(caller)
          await stage.receives('status', { CallStatus: 'ringing' })
        },
        callbacks: [
          ['status', { CallStatus: 'initiated', SequenceNumber: '0' }],
          ['status', { CallStatus: 'ringing', SequenceNumber: '1' }],
          ['status', { CallStatus: 'canceled', SequenceNumber: '2' }],
          ['action', { DialCallStatus: 'canceled', CallStatus: 'completed' }],
        ],
      }
    },
    script: async () => {
      const callee = await rings()
      const states = { call_state_url: stage.url('state'), call_state_events: ['ringing', 'ended'] }
      return {
        document: scriptText('answer', {
          connect: { to: callee.uri, status_url: stage.url('connect'), ...states },
        }),
        others: [callee],
        moment: async (caller) => {
          await ringing(callee)(caller)
          await stage.receives('state', { call_state: 'ringing' })
        },
        callbacks: [
          ['connect', { connect_state: 'connecting' }],
          ['state', { call_state: 'ringing' }],
          ['state', { call_state: 'ended' }],
          ['connect', { connect_state: 'failed', failed_reason: 'cancel' }],
        ],
      }
    },
    flow: async () => {
      const callee = await rings()
      return {
        document: flowText('forward', { to: [{ to: callee.uri }], status_url: stage.url('connect') }),
        others: [callee],
        moment: ringing(callee),
        callbacks: [
          ['connect', { connect_state: 'connecting' }],
          ['connect', { connect_state: 'failed' }],
        ],
      }
    },
  },
  'connect, while the callee is asked to confirm': {
    xml: async () => {
      const callee = await takes()
      const url = stage.server.put('/confirm', xmlText(`<Play loop="0">${stage.chime}</Play>`))
      const status = `statusCallback="${stage.url('status')}"`
      return {
        document: xmlText(
          `<Dial action="${stage.url('action')}"><Sip url="${url}" ${status}>${callee.uri}</Sip></Dial>`,
        ),
        others: [callee],
        moment: async (caller) => {
          await answered(caller)
          await callee.talks('invited', tones.other)
          await callee.hears(tones.chime)
        },
        callbacks: [
          ['status', { CallStatus: 'canceled' }],
          ['action', { DialCallStatus: 'canceled' }],
        ],
      }
    },
    script: async () => {
      const callee = await takes()
      const confirm = [{ play: { urls: [stage.chime, 'silence:60'] } }]
      return {
        document: scriptText('answer', {
          connect: { to: callee.uri, confirm, status_url: stage.url('connect') },
        }),
        others: [callee],
        moment: async (caller) => {
          await answered(caller)
          await callee.talks('invited', tones.other)
          await callee.hears(tones.chime)
        },
        callbacks: [
          ['connect', { connect_state: 'connecting' }],
          ['connect', { connect_state: 'failed' }],
        ],
      }
    },
  },
  'connect, while both talk': {
    xml: async () => {
      const callee = await takes()
      const status = `statusCallback="${stage.url('status')}" statusCallbackEvent="answered completed"`
      const record = `record="record-from-answer" recordingStatusCallback="${stage.url('recording')}"`
      return {
        document: xmlText(
          `<Dial action="${stage.url('action')}" ${record}><Sip ${status}>${callee.uri}</Sip></Dial>`,
        ),
        others: [callee],
        moment: talking(callee),
        callbacks: [
          ['status', { CallStatus: 'in-progress' }],
          ['status', { CallStatus: 'completed' }],
          ['recording', { RecordingStatus: 'completed', RecordingSource: 'DialVerb' }],
          ['action', { DialCallStatus: 'completed', CallStatus: 'completed' }],
        ],
      }
    },
    script: async () => {
      const callee = await takes()
      return {
        document: scriptText({ connect: { to: callee.uri, status_url: stage.url('connect') } }),
        others: [callee],
        moment: talking(callee),
        callbacks: [
          ['connect', { connect_state: 'connecting' }],
          ['connect', { connect_state: 'connected' }],
          ['connect', { connect_state: 'disconnected' }],
        ],
      }
    },
    flow: async () => {
      const callee = await takes()
      return {
        document: flowText('forward', { to: [{ to: callee.uri }], status_url: stage.url('connect') }),
        others: [callee],
        moment: talking(callee),
        callbacks: [
          ['connect', { connect_state: 'connecting' }],
          ['connect', { connect_state: 'connected' }],
          ['connect', { connect_state: 'disconnected' }],
        ],
      }
    },
  },
})
