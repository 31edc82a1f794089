// Random numbers for keys and credentials, from OpenSSL's generator.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <openssl/rand.h>
#include <string>

namespace trunkline
{
	// Without randomness there are no keys; going on would be worse than stopping.
	inline void fillRandom(void* bytes, size_t length)
	{
		if (RAND_bytes(static_cast<unsigned char*>(bytes), static_cast<int>(length)) != 1)
			std::abort();
	}

	inline std::string randomKey(size_t length)
	{
		std::string key(length, '\0');
		fillRandom(key.data(), length);
		return key;
	}

	// A standard UniformRandomBitGenerator. Draws a block at a time: one draw costs less than one call of RAND_bytes().
	class SecureRandom
	{
	public:
		using result_type = uint64_t;

		static constexpr result_type min() { return 0; }
		static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

		result_type operator()()
		{
			if (this->next == this->block.size())
			{
				fillRandom(this->block.data(), sizeof(this->block));
				this->next = 0;
			}
			const result_type value   = this->block[this->next];
			this->block[this->next++] = 0;
			return value;
		}

	private:
		std::array<result_type, 32> block{};
		size_t next{ 32 };
	};
} // namespace trunkline
