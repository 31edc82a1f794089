/** Text changes to a copy of the worker's sources. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Patch {
  readonly file: string
  readonly from: string
  readonly to: string
}

/**
 * What is changed in the worker's sources when they are built against the distribution's libraries. Each text must be there: a version
 * of the package that changed it is to be looked at anew, not built blindly.
 */
const patches: readonly Patch[] = [
  // The BIO callback answers 1 to every BIO_ctrl(). A libssl with kernel TLS takes that as "kTLS is sending", allocates no
  // write buffer and crashes in the first DTLS handshake. A control's return has BIO_CB_RETURN as a flag, not as the value.
  {
    file: 'src/RTC/DtlsTransport.cpp',
    from: '(operationType == BIO_CB_RETURN)',
    to: '(operationType & BIO_CB_RETURN)',
  },
  // ICE credentials, SCTP tags and the like come from a seeded Mersenne twister; take them from OpenSSL's generator.
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
  // An SRTP key of letters and digits has 5 bits in each byte; give it 8.
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
]

/** Applies every patch to the copy in `folder`; throws with the file and the text when one does not fit. */
export const applyPatches = (folder: string): void => {
  for (const { file, from, to } of patches) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} of this mediasoup has no longer the text: ${from}`)
    writeFileSync(path, text.replaceAll(from, to))
  }
}
