import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { agents } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { answersTo, bodyOf, directionOf, headerOf, linesOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const tone = { play: { url: 'ring:60:us' } }
const pcmu = { newPayloads: '0 101', newCodecs: 'a=rtpmap:0 PCMU/8000\na=rtpmap:101 telephone-event/8000' }
const pcma = { newPayloads: '8 101', newCodecs: 'a=rtpmap:8 PCMA/8000\na=rtpmap:101 telephone-event/8000' }
const g729 = { newPayloads: '18', newCodecs: 'a=rtpmap:18 G729/8000' }

describe.each(agents)('offers and answers, by $name', (agent) => {
  const { hasReliableProvisionals: reliableProvisionals } = agent.capabilities
  let gateway: Gateway
  let documents: DocumentServer

  beforeAll(async () => {
    documents = await DocumentServer.open()
    documents.put('/digits', '<Response><Pause length="30"/></Response>')
    const gather = `<Response><Gather numDigits="4" timeout="20" action="${documents.urlOf('/digits')}"/></Response>`
    gateway = await Gateway.start({
      agent,
      domains: [
        application('tone.test', scripted('answer', tone)),
        application(
          'early.test',
          scripted({ play: { url: 'ring:1.5:us', auto_answer: false } }, 'answer', tone),
        ),
        application('gather.test', { kind: 'xml', document: gather }),
      ],
    })
  })

  afterAll(async () => {
    await gateway?.stop()
    await documents?.close()
  })

  const calls = (scenario: string, options: Partial<IncomingOptions> = {}): Promise<Carrier> =>
    Carrier.calls(gateway, { domain: 'tone.test', scenario, ...options })

  const ended = async (carrier: Carrier): Promise<void> => {
    await carrier.done()
    await gateway.settled()
  }

  /** Waits until this number of further packets has arrived. */
  const heard = (media: RtpPeer, more = 10): Promise<unknown> => {
    const before = media.packets.length
    return until(
      'audio comes',
      () => media.packets.length - before,
      (count) => count >= more,
    )
  }

  /** Returns the 200 to the request with this CSeq. */
  const ok = ({ sipp }: Carrier, cseq: number, method = 'INVITE'): string =>
    answersTo(sipp.received('SIP/2.0 200'), cseq, method)[0] ?? ''

  describe('an INVITE without an offer', () => {
    it('gets the gateway’s offer in the 200, and its answer in the ACK starts the audio', async () => {
      const carrier = await calls('call-late', { holdMs: 'manual' })
      await carrier.sipp.event('answered')
      expect(linesOf(ok(carrier, 1), 'm=audio')[0]).toMatch(/RTP\/AVP 0 8 101$/)
      await heard(carrier.media)
      await carrier.goesOn()
      await ended(carrier)
    })

    it('is hung up with a reason when its ACK has no answer', async () => {
      const carrier = await calls('call-late-silent')
      await carrier.sipp.event('bye')
      const [bye = ''] = carrier.sipp.received('BYE')
      expect(headerOf(bye, 'Reason')).toBe('Q.850;cause=96;text="MANDATORY_IE_MISSING"')
      await ended(carrier)
      expect(gateway.log).toContainEqual(expect.objectContaining({ msg: 'call ended', code: 'bad_sdp' }))
    })

    it.runIf(reliableProvisionals)(
      'gets the gateway’s offer in a reliable 183, and its answer in the PRACK starts the audio',
      async () => {
        const more = ['Supported: 100rel']
        const carrier = await calls('call-late-reliable', {
          domain: 'early.test',
          holdMs: 300,
          values: { more },
        })
        await carrier.sipp.event('acknowledged')
        await heard(carrier.media)
        expect(carrier.sipp.events).not.toContainEqual(expect.stringContaining('answered'))
        await ended(carrier)
        // The negotiation is complete: a description in the 200 would be a new offer.
        expect(headerOf(ok(carrier, 1), 'Content-Length')).toBe('0')
      },
    )
  })

  it.runIf(reliableProvisionals)(
    'a caller with reliable provisional responses can change its offer by UPDATE before the answer',
    async () => {
      const more = ['Require: 100rel', 'Allow: INVITE, ACK, BYE, CANCEL, PRACK, UPDATE']
      const carrier = await calls('call-reliable', { domain: 'early.test', holdMs: 200, values: { more } })
      await carrier.sipp.event('updated')
      expect(directionOf(ok(carrier, 3, 'UPDATE'))).toBe('recvonly')
      await carrier.sipp.event('answered')
      await ended(carrier)
    },
  )

  it('an unsupported extension in Require is rejected with 420 that names it', async () => {
    const values = { status: 420, more: ['Require: precondition'] }
    const carrier = await calls('call-refused', { values })
    await carrier.done()
    const [refusal = ''] = carrier.sipp.received('SIP/2.0 420')
    expect(headerOf(refusal, 'Unsupported')).toBe('precondition')
  })

  describe('hold', () => {
    it.each([
      { spelling: 'sendonly', values: { newDirection: 'sendonly' }, answer: 'recvonly' },
      { spelling: 'inactive', values: { newDirection: 'inactive' }, answer: 'inactive' },
      { spelling: 'c=0.0.0.0', values: { newHost: '0.0.0.0' }, answer: 'recvonly' },
      {
        spelling: 'c=0.0.0.0 with inactive',
        values: { newHost: '0.0.0.0', newDirection: 'inactive' },
        answer: 'inactive',
      },
    ])('by $spelling stops the gateway’s audio, and sendrecv resumes it', async ({ values, answer }) => {
      const carrier = await calls('call-modifies', {
        holdMs: 'manual',
        values: { ...pcmu, ...(values as Record<string, string>) },
      })
      await heard(carrier.media)
      await carrier.goesOn()
      await carrier.sipp.event('modified')
      expect(directionOf(ok(carrier, 2))).toBe(answer)
      await until('the call is on hold for 300 ms', () => silence(carrier.media) > 300)
      await carrier.goesOn()
      await carrier.sipp.event('back')
      expect(directionOf(ok(carrier, 3))).toBe('sendrecv')
      await heard(carrier.media)
      await carrier.goesOn()
      await ended(carrier)
      expect(longestGap(carrier.media)).toBeGreaterThan(250)
    })
  })

  describe('a re-INVITE', () => {
    it('moves the audio to a new address and port', async () => {
      const second = await RtpPeer.open()
      onTestFinished(() => second.close())
      const values = { ...pcmu, newPort: second.port }
      const carrier = await calls('call-modifies', { holdMs: 'manual', values })
      await carrier.goesOn()
      await carrier.sipp.event('modified')
      await heard(second)
      await carrier.goesOn()
      await carrier.sipp.event('back')
      await heard(carrier.media)
      await carrier.goesOn()
      await ended(carrier)
    })

    it('changes the codec, and the answer has a new session version', async () => {
      const carrier = await calls('call-modifies', { holdMs: 'manual', values: pcma })
      await carrier.goesOn()
      await carrier.sipp.event('modified')
      const first = ok(carrier, 1)
      const second = ok(carrier, 2)
      expect(linesOf(second, 'm=audio')[0]).toMatch(/RTP\/AVP 8 101$/)
      expect(versionOf(second)).toBe(versionOf(first) + 1)
      const isPcma = () => carrier.media.packets.at(-1)?.payloadType === 8
      await until('PCMA comes', isPcma)
      await carrier.goesOn()
      await carrier.goesOn()
      await ended(carrier)
    })

    it('changes the payload type of digits', async () => {
      const events = (number: number) => `a=rtpmap:0 PCMU/8000\na=rtpmap:${number} telephone-event/8000`
      const values = { payloads: '0 126', codecs: events(126), newPayloads: '0 101', newCodecs: events(101) }
      const carrier = await calls('call-modifies', { domain: 'gather.test', holdMs: 'manual', values })
      await carrier.talks('answered', 0)
      await carrier.goesOn()
      await carrier.sipp.event('modified')
      expect(linesOf(ok(carrier, 1), 'a=rtpmap:126')).toEqual(['a=rtpmap:126 telephone-event/8000'])
      expect(linesOf(ok(carrier, 2), 'm=audio')[0]).toMatch(/ 0 101$/)
      carrier.media.press('73*1')
      const asked = () => documents.requests.find(({ path }) => path === '/digits')
      expect((await until('the digits arrive', asked))?.fields.Digits).toBe('73*1')
      await carrier.goesOn()
      await carrier.sipp.event('back')
      await carrier.goesOn()
      await ended(carrier)
    })

    it('with an unchanged session version gets the same answer again, as does an UPDATE', async () => {
      const carrier = await calls('call-refresh')
      await ended(carrier)
      const bodies = [ok(carrier, 1), ok(carrier, 2), ok(carrier, 3, 'UPDATE')].map(bodyOf)
      expect(new Set(bodies).size).toBe(1)
      expect(headerOf(ok(carrier, 4, 'UPDATE'), 'Content-Length')).toBe('0')
    })

    it('without a common codec is rejected with 488 and a warning, and the call continues', async () => {
      const values = { ...g729, status: 488 }
      const carrier = await calls('call-modifies-refused', { holdMs: 'manual', values })
      await carrier.sipp.event('refused')
      const [refusal = ''] = carrier.sipp.received('SIP/2.0 488')
      expect(headerOf(refusal, 'Warning')).toMatch(/^399 trunkline ".*G729/)
      await heard(carrier.media, 5)
      await carrier.goesOn()
      await ended(carrier)
    })

    it('that crosses another offer gets 491, and the next offer is accepted', async () => {
      const carrier = await calls('call-crossing')
      await carrier.sipp.event('crossed')
      await carrier.sipp.event('updated')
      await ended(carrier)
    })
  })

  it('an offer of audio and video is answered with audio, and port 0 for video', async () => {
    const lines = ['m=video 41000 RTP/AVP 97', 'a=rtpmap:97 H264/90000']
    const carrier = await calls('call', { holdMs: 'manual', values: { lines } })
    await carrier.sipp.event('answered')
    expect(linesOf(ok(carrier, 1), 'm=')).toEqual([
      expect.stringMatching(/^m=audio [1-9]/),
      'm=video 0 RTP/AVP 97',
    ])
    await heard(carrier.media, 5)
    await carrier.goesOn()
    await ended(carrier)
  })

  it('an offer in a multipart body is accepted', async () => {
    const carrier = await calls('call-multipart', { holdMs: 'manual' })
    await carrier.sipp.event('answered')
    await heard(carrier.media, 5)
    await carrier.goesOn()
    await ended(carrier)
  })
})

/** The time since the last packet, in ms. */
const silence = ({ packets }: RtpPeer): number => performance.now() - (packets.at(-1)?.at ?? 0)

/** The longest time without a packet, in ms. */
const longestGap = ({ packets }: RtpPeer): number =>
  Math.max(...packets.slice(1).map(({ at }, index) => at - packets[index]!.at))

const versionOf = (message: string): number => Number(/^o=\S+ \S+ (\d+) /m.exec(bodyOf(message))?.[1])
