import { script, scriptText, xmlText } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import { chimes, type Hangups, type Scenes, tones } from '../../support/hangups.ts'

const answered = (caller: Carrier) => caller.talks('answered', tones.caller)
/** Places a second call, whose document is at `/other`; the gateway hangs up. */
const another = async (stage: Hangups, kind: string, document: string): Promise<Carrier> => {
  stage.server.put('/other', document)
  return Carrier.calls(stage.gateway, { domain: `other.${kind}.test`, scenario: 'caller-released' })
}

/** The caller hangs up in a conference, or in a queue. */
export const roomHangups = (stage: Hangups): Scenes => ({
  'a conference that has not begun': {
    xml: () => {
      const wait = stage.server.put('/wait', xmlText(`<Play loop="0">${stage.chime}</Play>`))
      const attributes = `waitUrl="${wait}" statusCallback="${stage.url('room')}"`
      return {
        document: xmlText(
          `<Dial action="${stage.url('action')}"><Conference ${attributes}>waiting of xml</Conference></Dial>`,
        ),
        moment: chimes,
        callbacks: [
          ['room', { StatusCallbackEvent: 'participant-join' }],
          ['room', { StatusCallbackEvent: 'participant-leave' }],
          ['room', { StatusCallbackEvent: 'conference-end' }],
          ['action', { DialCallStatus: 'answered' }],
        ],
      }
    },
    script: () => {
      const wait_url = stage.server.put('/wait', scriptText({ play: { urls: [stage.chime, 'silence:60'] } }))
      const name = `waiting of script`
      return {
        document: scriptText({ join_conference: { name, wait_url, status_callback: stage.url('room') } }),
        moment: chimes,
        callbacks: [
          ['room', { status: 'participant-join' }],
          ['room', { status: 'participant-leave' }],
          ['room', { status: 'conference-end' }],
        ],
      }
    },
  },
  'a conference': {
    xml: () => {
      const name = `talking of xml`
      const attributes = `endConferenceOnExit="true" statusCallback="${stage.url('room')}"`
      const calls: Carrier[] = []
      return {
        calls,
        document: xmlText(
          `<Dial action="${stage.url('action')}"><Conference ${attributes}>${name}</Conference></Dial>`,
        ),
        moment: async (caller) => {
          await answered(caller)
          await stage.receives('room', { StatusCallbackEvent: 'participant-join' })
          const other = await another(stage, 'xml', xmlText(`<Dial><Conference>${name}</Conference></Dial>`))
          calls.push(other)
          await other.talks('answered', tones.other)
          await caller.hears(tones.other)
          await other.hears(tones.caller)
        },
        callbacks: [
          ['room', { StatusCallbackEvent: 'participant-join', SequenceNumber: '0' }],
          ['room', { StatusCallbackEvent: 'participant-join', SequenceNumber: '1' }],
          ['room', { StatusCallbackEvent: 'conference-start' }],
          ['room', { StatusCallbackEvent: 'participant-leave' }],
          ['room', { StatusCallbackEvent: 'participant-leave' }],
          ['room', { StatusCallbackEvent: 'conference-end' }],
          ['action', { DialCallStatus: 'answered', CallStatus: 'completed' }],
        ],
      }
    },
    script: () => {
      const name = `talking of script`
      const calls: Carrier[] = []
      const status_callback = stage.url('room')
      return {
        calls,
        document: scriptText({
          join_conference: {
            name,
            end_on_exit: true,
            status_callback,
            status_callback_event: 'join start leave end',
          },
        }),
        moment: async (caller) => {
          await answered(caller)
          await stage.receives('room', { status: 'participant-join' })
          const other = await another(stage, 'script', scriptText({ join_conference: { name } }))
          calls.push(other)
          await other.talks('answered', tones.other)
          await caller.hears(tones.other)
          await other.hears(tones.caller)
        },
        callbacks: [
          ['room', { status: 'participant-join' }],
          ['room', { status: 'participant-join' }],
          ['room', { status: 'conference-start' }],
          ['room', { status: 'participant-leave' }],
          ['room', { status: 'participant-leave' }],
          ['room', { status: 'conference-end' }],
        ],
      }
    },
  },
  'a queue, while waiting': {
    xml: () => {
      const wait = stage.server.put('/wait', xmlText(`<Play loop="0">${stage.chime}</Play>`))
      return {
        document: xmlText(`<Enqueue waitUrl="${wait}" action="${stage.url('action')}">long</Enqueue>`),
        moment: chimes,
        callbacks: [['action', { QueueResult: 'hangup', CallStatus: 'completed' }]],
      }
    },
    script: () => ({
      document: scriptText({
        enter_queue: {
          queue_name: 'long',
          wait_url: stage.chime,
          status_url: stage.url('queue'),
          transfer_after_bridge: 'main',
        },
      }),
      moment: chimes,
      callbacks: [
        ['queue', { status: 'enqueue' }],
        ['queue', { status: 'leave' }],
      ],
    }),
  },
  'a queue, while talking to an agent': {
    xml: () => {
      const calls: Carrier[] = []
      return {
        calls,
        document: xmlText(`<Enqueue action="${stage.url('action')}">served</Enqueue>`),
        moment: async (caller) => {
          await answered(caller)
          await stage.reaches('queue_waiting')
          const agent = await another(stage, 'xml', xmlText('<Dial><Queue>served</Queue></Dial>'))
          calls.push(agent)
          await agent.talks('answered', tones.other)
          await caller.hears(tones.other)
          await agent.hears(tones.caller)
        },
        callbacks: [['action', { QueueResult: 'bridged', CallStatus: 'completed' }]],
      }
    },
    script: () => {
      const calls: Carrier[] = []
      return {
        calls,
        document: scriptText({
          enter_queue: {
            queue_name: 'served',
            status_url: stage.url('queue'),
            transfer_after_bridge: 'main',
          },
        }),
        moment: async (caller) => {
          await answered(caller)
          await stage.reaches('queue_waiting')
          const agent = await another(
            stage,
            'script',
            scriptText({
              connect: { to: 'queue:served', transfer_after_bridge: JSON.stringify(script('hangup')) },
            }),
          )
          calls.push(agent)
          await agent.talks('answered', tones.other)
          await caller.hears(tones.other)
          await agent.hears(tones.caller)
        },
        callbacks: [
          ['queue', { status: 'enqueue' }],
          ['queue', { status: 'dequeue' }],
        ],
      }
    },
  },
})
