import { describe, expect, it } from 'vitest'
import { quirksOf } from './client-quirks.ts'

describe('the quirks of a client', () => {
  it('are none for the SDK of Trunkline, whose calls can fail after a description', () => {
    expect(quirksOf('@trunkline/client/0.1.0')).toEqual({
      canFailOnceDescribed: true,
      maxDescriptionWaitMs: 2_000,
      renewsMedia: true,
    })
  })

  it.each(['3.27.0', '3.28.0', '3.29.0', '3.29.2'])('let %s wait without a limit', (version) => {
    expect(quirksOf(`@signalwire/js/browser/${version}`)).toEqual({
      canFailOnceDescribed: false,
      maxDescriptionWaitMs: undefined,
      renewsMedia: false,
    })
  })

  it.each(['@signalwire/js/browser/3.30.0', '@signalwire/js/browser/4.0.0', 'another', '', 7, undefined])(
    'end the wait of %s before the 20 s of version 3.30.0',
    (agent) => {
      expect(quirksOf(agent)).toEqual({
        canFailOnceDescribed: false,
        maxDescriptionWaitMs: 15_000,
        renewsMedia: false,
      })
    },
  )
})
