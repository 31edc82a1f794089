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

/** Browsers use Opus with each other, as it tolerates lost packets. */
const browsers: readonly AudioCodec[] = ['opus']

/**
 * Predicts the codecs that a dialled party will be offered. With one of them on the caller's side no
 * transcoding is needed. Without a prediction, as for calls to a handler, the list is empty.
 */
export class LikelyCodecs {
  readonly #deps: LikelyCodecsDeps

  constructor(deps: LikelyCodecsDeps) {
    this.#deps = deps
  }

  /** `to`: a SIP URI, a number, or an address of the project. */
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
