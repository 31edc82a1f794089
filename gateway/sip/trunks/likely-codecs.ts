import type { AudioCodec } from '../../../media/types.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { AddressBook } from '../../model.ts'
import { plainCodecs } from '../media/codec-rules.ts'
import type { CarrierDirectory } from './carrier-directory.ts'

/** Collaborators of {@link LikelyCodecs}. */
export interface LikelyCodecsDeps {
  readonly directory: AddressBook & { endpoint?(id: string): Pick<SipEndpoint, 'codecs'> | undefined }
  readonly carriers: Pick<CarrierDirectory, 'byName' | 'of'>
}

/** Codec that browsers use with each other; it tolerates lost packets. */
const browsers: readonly AudioCodec[] = ['opus']

/**
 * Predicts the codecs that a callee will be offered. If the caller's leg uses one of these codecs, no
 * transcoding is needed.
 */
export class LikelyCodecs {
  readonly #deps: LikelyCodecsDeps

  constructor(deps: LikelyCodecsDeps) {
    this.#deps = deps
  }

  /**
   * Returns the predicted codecs of a callee; empty without a prediction, as for a call to a handler. `to`: a
   * SIP URI, a number, or an address of the project.
   */
  of(to: string, projectId: string): readonly AudioCodec[] {
    const { directory, carriers } = this.#deps
    const target = directory.resolve(to, projectId)
    if (target?.kind === 'subscriber') return browsers
    if (target?.kind === 'endpoint')
      return directory.endpoint?.(target.endpointId)?.codecs ?? plainCodecs.codecs
    if (target?.kind !== 'sip') return []
    const uri = parseSipUri(target.uri)
    const carrier =
      target.carrier === undefined ? uri && carriers.of(uri, projectId) : carriers.byName(target.carrier)
    return carrier?.config.codecs ?? plainCodecs.codecs
  }
}
