import type { SipResponse } from '@trunkline/sip-agent/message'
import type { CarrierConfig, Config } from '../../../config/types.ts'
import { SystemClock } from '../../core/clock.ts'
import type { DomainApp } from '../../directory/model/callers.ts'
import { Trust } from '../admission/trust.ts'
import { parseChallenges } from '../digest/challenge-header.ts'
import { authorization } from '../digest/digest-session.ts'
import { CarrierDirectory } from '../trunks/carrier-directory.ts'
import { carrierSdp, type EdgeChanges, testApp } from './bench.ts'
import { Carrier } from './carrier.ts'

/** Configuration of a gateway for tests of admission. */
export interface Setting {
  readonly apps?: readonly DomainApp[]
  readonly carriers?: readonly CarrierConfig[]
  readonly registrar?: readonly string[]
  readonly parts?: EdgeChanges
}

/** Starts a gateway with the trust of a configuration, and a peer that calls it. */
export const startAdmission = ({
  apps = [testApp()],
  carriers = [],
  registrar = [],
  parts = {},
}: Setting): Promise<Carrier> => {
  const config = { domains: apps, carriers, sip: { registrar: { domains: registrar } } }
  return Carrier.start({
    apps,
    parts: {
      trust: new Trust(config as unknown as Config),
      carriers: new CarrierDirectory(carriers, new SystemClock()),
      ...parts,
    },
  })
}

/** Places a call, acknowledges its final response and returns the response. */
export const refusedCall = async (
  { peer }: Carrier,
  uri: string,
  status: number,
  extra: Record<string, string> = {},
): Promise<SipResponse> => {
  const call = peer.call(uri)
  const branch = peer.send('INVITE', call, { body: carrierSdp(), extra })
  const response = await peer.response(status, 'INVITE')
  peer.send('ACK', call, { to: response.headers.first('to'), branch })
  return response
}

/** Returns the Authorization that answers the challenge of a rejected call. */
export const answerTo = (
  response: SipResponse,
  uri: string,
  username: string,
  password: string,
  algorithm = 'MD5',
): string => {
  const challenge = response.headers
    .all('www-authenticate')
    .flatMap((value) => parseChallenges(value))
    .find((each) => each.algorithm === algorithm)!
  const request = { method: 'INVITE', uri, body: carrierSdp() }
  return authorization(challenge, { username, password }, request, { count: 1, nonce: 'client' })
}
