// libsrtp 3's interface, as far as the worker uses it, over the distribution's libsrtp 2. The two differ in three things: packets go from
// one buffer into another instead of being changed in place, a policy is an opaque object instead of a struct, and a few names.
#pragma once

// In libsrtp 3 the name is a pointer; keep libsrtp 2's struct out of its way.
#define srtp_policy_t srtp2_policy_struct
#include <srtp2/srtp.h>
#undef srtp_policy_t

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <openssl/crypto.h>

// Error values that only libsrtp 3 has; none of libsrtp 2's calls returns them.
inline constexpr auto srtp_err_status_buffer_small = static_cast<srtp_err_status_t>(28);
inline constexpr auto srtp_err_status_cryptex_err  = static_cast<srtp_err_status_t>(29);

namespace trunkline
{
	// Runs libsrtp 2's in-place function on a copy of the packet. `capacity` is the room on the way in and the length on the way out;
	// `growth` is what the function may add.
	template<typename InPlace>
	inline srtp_err_status_t copyAndRun(
	  InPlace inPlace, srtp_t session, const uint8_t* in, size_t length, uint8_t* out, size_t* capacity, size_t growth)
	{
		if (length + growth > *capacity)
			return srtp_err_status_buffer_small;
		if (in != out)
			std::memmove(out, in, length);
		int changed       = static_cast<int>(length);
		const auto status = inPlace(session, static_cast<void*>(out), &changed);
		*capacity         = static_cast<size_t>(changed);
		return status;
	}
} // namespace trunkline

inline srtp_err_status_t srtp_protect(
  srtp_t session, const uint8_t* rtp, size_t length, uint8_t* srtp, size_t* capacity, size_t /*mki*/)
{
	srtp_err_status_t (*const inPlace)(srtp_t, void*, int*) = ::srtp_protect;
	return trunkline::copyAndRun(inPlace, session, rtp, length, srtp, capacity, SRTP_MAX_TRAILER_LEN);
}

inline srtp_err_status_t srtp_protect_rtcp(
  srtp_t session, const uint8_t* rtcp, size_t length, uint8_t* srtcp, size_t* capacity, size_t /*mki*/)
{
	srtp_err_status_t (*const inPlace)(srtp_t, void*, int*) = ::srtp_protect_rtcp;
	// SRTCP also carries its 32-bit index.
	return trunkline::copyAndRun(inPlace, session, rtcp, length, srtcp, capacity, SRTP_MAX_TRAILER_LEN + 4);
}

inline srtp_err_status_t srtp_unprotect(
  srtp_t session, const uint8_t* srtp, size_t length, uint8_t* rtp, size_t* capacity)
{
	srtp_err_status_t (*const inPlace)(srtp_t, void*, int*) = ::srtp_unprotect;
	return trunkline::copyAndRun(inPlace, session, srtp, length, rtp, capacity, 0);
}

inline srtp_err_status_t srtp_unprotect_rtcp(
  srtp_t session, const uint8_t* srtcp, size_t length, uint8_t* rtcp, size_t* capacity)
{
	srtp_err_status_t (*const inPlace)(srtp_t, void*, int*) = ::srtp_unprotect_rtcp;
	return trunkline::copyAndRun(inPlace, session, srtcp, length, rtcp, capacity, 0);
}

inline srtp_err_status_t srtp_stream_remove(srtp_t session, uint32_t ssrc)
{
	return ::srtp_remove_stream(session, ssrc);
}

namespace trunkline
{
	// A policy with the key that its struct only points to; wiped when it goes.
	struct Policy
	{
		srtp2_policy_struct inner{};
		std::array<uint8_t, SRTP_MAX_KEY_LEN> key{};

		Policy()                         = default;
		Policy(const Policy&)            = delete;
		Policy& operator=(const Policy&) = delete;

		~Policy() { OPENSSL_cleanse(this->key.data(), this->key.size()); }
	};
} // namespace trunkline

using srtp_policy_t = trunkline::Policy*;

inline srtp_err_status_t srtp_policy_create(srtp_policy_t* policy)
{
	*policy = new trunkline::Policy();
	return srtp_err_status_ok;
}

inline void srtp_policy_destroy(srtp_policy_t policy)
{
	delete policy;
}

inline srtp_err_status_t srtp_policy_set_ssrc(srtp_policy_t policy, srtp_ssrc_t ssrc)
{
	policy->inner.ssrc = ssrc;
	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_profile(srtp_policy_t policy, srtp_profile_t profile)
{
	const auto status = srtp_crypto_policy_set_from_profile_for_rtp(&policy->inner.rtp, profile);
	if (status != srtp_err_status_ok)
		return status;
	return srtp_crypto_policy_set_from_profile_for_rtcp(&policy->inner.rtcp, profile);
}

inline srtp_err_status_t srtp_policy_add_key(
  srtp_policy_t policy,
  const uint8_t* key,
  size_t keyLength,
  const uint8_t* salt,
  size_t saltLength,
  const uint8_t* /*mki*/,
  size_t mkiLength)
{
	// The worker gives one key and no MKI.
	if (mkiLength != 0 || policy->inner.key != nullptr || keyLength + saltLength > policy->key.size())
		return srtp_err_status_bad_param;
	std::memcpy(policy->key.data(), key, keyLength);
	std::memcpy(policy->key.data() + keyLength, salt, saltLength);
	policy->inner.key = policy->key.data();
	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_allow_repeat_tx(srtp_policy_t policy, bool allow)
{
	policy->inner.allow_repeat_tx = allow ? 1 : 0;
	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_window_size(srtp_policy_t policy, size_t packets)
{
	policy->inner.window_size = static_cast<unsigned long>(packets);
	return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_create(srtp_t* session, srtp_policy_t policy)
{
	return ::srtp_create(session, &policy->inner);
}
