/** Patches of the worker's sources. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Patch {
  readonly file: string
  readonly from: string
  readonly to: string
}

/**
 * Patches for a build with the libraries of the distribution. Each original text must exist; if a new version
 * of the package changed it, the patch needs a review.
 */
export const patches: readonly Patch[] = [
  // The BIO callback returns 1 for every BIO_ctrl(). A libssl with kernel TLS then assumes that kTLS sends,
  // allocates no write buffer and crashes in the first DTLS handshake. BIO_CB_RETURN is a flag.
  {
    file: 'src/RTC/DtlsTransport.cpp',
    from: '(operationType == BIO_CB_RETURN)',
    to: '(operationType & BIO_CB_RETURN)',
  },
  // ICE credentials and SCTP tags come from a seeded Mersenne twister; OpenSSL's generator is secure.
  {
    file: 'include/Utils.hpp',
    from: 'static thread_local std::mt19937_64 rng;',
    to: 'static thread_local trunkline::SecureRandom rng;',
  },
  {
    file: 'include/Utils.hpp',
    from: '#include "common.hpp"',
    to: '#include "common.hpp"\n#include "secure_random.h"',
  },
  {
    file: 'src/Utils/Crypto.cpp',
    from: 'thread_local std::mt19937_64 Crypto::rng;',
    to: 'thread_local trunkline::SecureRandom Crypto::rng;',
  },
  { file: 'src/Utils/Crypto.cpp', from: 'Crypto::rng.seed(seed);', to: 'static_cast<void>(seed);' },
  // An SRTP key of letters and digits has 5 random bits per byte instead of 8.
  {
    file: 'src/RTC/PlainTransport.cpp',
    from: 'Utils::Crypto::GetRandomString(this->srtpMasterLength)',
    to: 'trunkline::randomKey(this->srtpMasterLength)',
  },
  {
    file: 'src/RTC/PipeTransport.cpp',
    from: 'Utils::Crypto::GetRandomString(PipeTransport::srtpMasterLength)',
    to: 'trunkline::randomKey(PipeTransport::srtpMasterLength)',
  },
  // A second stream of one encoding fails an assertion, which ends the process and all its calls. An encoding
  // without SSRC counts as one of SSRC 0, so any browser could send the packet that begins the second one.
  {
    file: 'src/RTC/Producer.cpp',
    from: 'if (isMediaPacket && encoding.ssrc == ssrc)',
    to: 'if (isMediaPacket && ssrc != 0u && encoding.ssrc == ssrc && !this->rtpStreamByEncodingIdx[i])',
  },
]

/** Applies all patches to the copy in `folder`. Throws with the file and the text if one does not apply. */
export const applyPatches = (folder: string): void => {
  for (const { file, from, to } of patches) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} of this mediasoup no longer contains: ${from}`)
    writeFileSync(path, text.replaceAll(from, to))
  }
}
