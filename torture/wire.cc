#include "torture/wire.h"

#include <cstring>

namespace sd::torture {

namespace {

void put(std::string* out, uint64_t value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}

void put(std::string* out, const std::string& text) {
  put(out, text.size());
  out->append(text);
}

// Reads front to back; `whole` turns false when the bytes do not suffice.
struct Reader {
  const std::string& bytes;
  size_t at = 0;
  bool whole = true;

  uint64_t number() {
    uint64_t value = 0;
    if (!whole || bytes.size() - at < sizeof(value)) {
      whole = false;
      return 0;
    }
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    at += sizeof(value);
    return value;
  }

  std::string text() {
    const uint64_t size = number();
    if (!whole || bytes.size() - at < size) {
      whole = false;
      return {};
    }
    at += size;
    return bytes.substr(at - size, size);
  }
};

}  // namespace

void encode(const Finding& finding, std::string* out) {
  std::string body;
  const engine::Failure& failure = finding.failure;
  for (const uint64_t value : {finding.execution, static_cast<uint64_t>(finding.verified),
                               static_cast<uint64_t>(failure.kind),
                               static_cast<uint64_t>(failure.cpu), failure.step, failure.time_ns}) {
    put(&body, value);
  }
  for (const std::string* text : {&failure.id, &failure.function, &failure.message, &failure.detail,
                                  &failure.task, &finding.signature, &finding.events,
                                  &finding.replay, &finding.standard_error, &finding.remark}) {
    put(&body, *text);
  }
  put(out, body);
}

std::optional<Finding> decode(std::string* in) {
  Reader outer{*in};
  const std::string body = outer.text();
  if (!outer.whole) return std::nullopt;
  in->erase(0, outer.at);

  Reader reader{body};
  Finding finding;
  engine::Failure& failure = finding.failure;
  finding.execution = reader.number();
  finding.verified = reader.number() != 0;
  failure.kind = static_cast<engine::FailureKind>(reader.number());
  failure.cpu = static_cast<uint32_t>(reader.number());
  failure.step = reader.number();
  failure.time_ns = reader.number();
  for (std::string* text : {&failure.id, &failure.function, &failure.message, &failure.detail,
                            &failure.task, &finding.signature, &finding.events, &finding.replay,
                            &finding.standard_error, &finding.remark}) {
    *text = reader.text();
  }
  return finding;
}

}  // namespace sd::torture
