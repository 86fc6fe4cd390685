/* Rules of any shape: the tables made of them say the same as the rules. */
#include <stdlib.h>

#include "egress/egress_rules.h"
#include "tests/unit/egress_rules_reference.h"

#define RULES_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct egress_rule rules[RULES_MAX] = { 0 };
	struct egress_range ranges[RULES_MAX];
	struct egress_table t = EGRESS_TABLE_NULL;
	struct error err = ERROR_NULL;
	size_t n = 0, i;

	for (; n < RULES_MAX && size >= 24; n++, data += 24, size -= 24) {
		ranges[n] = (struct egress_range){ .first = (uint16_t)(data[18] << 8 | data[19]),
						   .last = (uint16_t)(data[20] << 8 | data[21]) };
		rules[n] = (struct egress_rule){ .bits = data[16],
						 .scope = data[17] & 8 ? MIN(data[22], data[16]) : data[16],
						 .protocol = data[17] & 1 ? IPPROTO_TCP : data[17] & 2 ? IPPROTO_UDP : 0,
						 .metadata = data[17] & 4,
						 .ranges = &ranges[n],
						 .n_ranges = data[17] >> 7 };
		memcpy(rules[n].address, data, 16);
	}
	if (egress_rules_compile(rules, n, NULL, 0, &t, &err) < 0)
		return 0;
	for (i = 0; i < n; i++) {
		uint8_t *a = rules[i].address;
		bool got = egress_table_judge(&t, a, IPPROTO_TCP, ranges[i].first) == EGRESS_ALLOW;

		if (got != reference_allows(rules, n, NULL, 0, a, IPPROTO_TCP, ranges[i].first))
			abort();
	}
	egress_table_done(&t);
	return 0;
}
