// Files written so that a reader never sees half of one, and directories that are found unusable
// before the work is done rather than after.
#pragma once

#include <optional>
#include <string>

namespace sd::torture {

// Writes to a temporary name beside `path` and renames. Empty, or what went wrong ("No space left
// on device").
std::string write_file(const std::string& path, const std::string& content);

// The content, or nothing, with *error set.
std::optional<std::string> read_file(const std::string& path, size_t limit, std::string* error);

// Creates the directory and its parents as needed. Empty, or what went wrong.
std::string make_directory(const std::string& path);

bool is_directory(const std::string& path);

// Whether a file of some size can be written in the directory now. Empty, or what went wrong.
std::string probe_directory(const std::string& path);

}  // namespace sd::torture
